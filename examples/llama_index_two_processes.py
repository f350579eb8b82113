"""A LlamaIndex chat engine that remembers its user in the next process.

Run it:  OPENAI_API_KEY=... python examples/llama_index_two_processes.py "I am allergic to nuts."
         OPENAI_API_KEY=... python examples/llama_index_two_processes.py "What can I bake for Sunday?"
OPENAI_BASE_URL and OPENAI_MODEL choose another server and model; IMPRESSMEM_URL says where the memory is, the embedded
server where unset.

Needs: pip install 'impressmem-integrations[llama-index]' llama-index-llms-openai-like
"""

import os
import sys

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.llms.openai_like import OpenAILike

from impressmem_integrations.llama_index import ImpressionMemory


def main(text: str) -> None:
    llm = OpenAILike(
        model=os.environ.get("OPENAI_MODEL", "gpt-4.1-mini"),
        api_base=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
        api_key=os.environ["OPENAI_API_KEY"],
        is_chat_model=True,
        is_function_calling_model=True,
    )
    memory = ImpressionMemory(os.environ.get("IMPRESSMEM_URL", "embedded"), user="alice", model=llm)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
    print(engine.chat(text))
    for error in memory.close():  # the background has the turn; a script waits for it before it ends
        print(error, file=sys.stderr)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "Hello!")
