"""A talk of two users over three days, and what memory must hold afterwards: data for the demo, the tests and the CLI.

`transcript.jsonl` holds one message a line, in the order of time, in OpenAI chat form with three more keys: `session`,
`user` and `at` (ISO 8601 with a zone). `expectations.json` says per user which phrases must be kept, gone (corrected),
pinned, never learned or kept secret, and which belong to the other user.
"""
