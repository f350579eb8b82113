"""A chat over documents that also knows its user: a small local index, and memory beside it.

Run it:  OPENAI_API_KEY=... python examples/llama_index_rag.py
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset. The embedding is LlamaIndex' mock, so that nothing is downloaded: put your own in its place.

Needs: pip install 'impressmem-integrations[llama-index]' llama-index-llms-openai-like
"""

import os

from llama_index.core import Document, VectorStoreIndex
from llama_index.core.chat_engine import CondensePlusContextChatEngine
from llama_index.core.embeddings import MockEmbedding
from llama_index.llms.openai_like import OpenAILike

from impressmem_integrations import ImpressionStore
from impressmem_integrations.llama_index import ImpressionMemory, ImpressionRetriever

MENU = (
    "Monday: walnut bread, pumpkin soup, baked apples.",
    "Tuesday: lentil stew, rice with saffron, lemon sorbet.",
    "Wednesday: fish from the grill, potatoes, almond cake.",
)
TALK = ("I must not eat nuts, not even almonds.", "On which days can I have the dessert?")


def main() -> None:
    llm = OpenAILike(
        model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
        api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
    )
    index = VectorStoreIndex.from_documents([Document(text=day) for day in MENU], embed_model=MockEmbedding(8))
    with ImpressionStore.from_env(user="alice") as store:
        memory = ImpressionMemory(store, model=llm)
        engine = CondensePlusContextChatEngine.from_defaults(
            retriever=index.as_retriever(similarity_top_k=3),
            llm=llm,
            memory=memory,
            system_prompt="You are the canteen's assistant.",
        )
        for text in TALK:
            print(f"> {text}\n{engine.chat(text)}")
            memory.flush()
        print("Kept:")
        for node in ImpressionRetriever(store).retrieve("nuts"):
            print(f"- {node.text}")


if __name__ == "__main__":
    main()
