"""Long-term memory for assistants in plain Redis or Valkey."""
