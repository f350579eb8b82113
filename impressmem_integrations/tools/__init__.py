"""The tools a model gets, and how its calls are read. Carrying them out is the store's.

definitions   names, descriptions and schemas; OpenAI's form and strict mode
arguments     what a model wrote, checked item by item
calls         tool calls and answers of any shape
text_calls    calls written into the text, for models without tools
json_repair   JSON that is nearly right
"""
