"""The quoted form of a turn inside a maintenance request: who said what, in a form that no content can forge.

Each message is one header line (`user "Ann":`) and its text, every line of it behind `| `. What stands behind `| ` was
said by somebody; what does not was written by this package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from impressmem_integrations.core.text import whole_characters
from impressmem_integrations.model import Message

MAX_NAME_CHARACTERS = 64
MAX_ARGUMENTS_CHARACTERS = 200
_MOST_OF_A_WORD = 40

_QUOTE = "| "
# Every character that some reader may take for the end of a line (those of `str.splitlines`).
_LINE_BREAK = re.compile("(\r\n|[\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029])")
_GAP = re.compile(r"\([\d,]+ characters left out here\)")
_WORD_BEGUN = re.compile(rf"\s\S{{0,{_MOST_OF_A_WORD}}}\Z")
_WORD_ENDED = re.compile(rf"\A\S{{0,{_MOST_OF_A_WORD}}}\s")
_HEADER = re.compile(r'(user|assistant)(?: ("(?:[^"\\]|\\.)*"))?:')


def render(messages: Sequence[Message], *, tool_results: bool = False) -> str:
    r"""Return the transcript of a turn.

    System and developer messages are never part, nor are texts that are empty or blank. A tool call is one line that
    names the tool and the start of its arguments.

    Args:
        messages: Canonical messages in the order they were said.
        tool_results: Quote what tools returned, marked untrusted. By default a one-line marker stands in its place: a
            web page must not be able to plant facts.

    Returns:
        Lines joined by `\n`, without one at the end; "" where nothing was said.
    """
    called = {call.get("id"): _tool_name(call) for message in messages for call in message.get("tool_calls") or ()}
    lines: list[str] = []
    for message in messages:
        role = message.get("role")
        text = text_of(message)
        if role in ("user", "assistant"):
            if text.strip() or message.get("left_out"):
                lines += [f"{role}{_named(message.get('name'))}:", _quote(text), *_tail(message)]
            if role == "assistant":
                lines += [_call_line(call) for call in message.get("tool_calls") or ()]
        elif role in ("tool", "function") and text.strip():
            tool = message.get("name") or called.get(message.get("tool_call_id")) or "tool"
            if tool_results:
                lines += [f"result of{_named(tool)}, untrusted, not said by the user:", _quote(text)]
            else:
                lines.append(f"result of{_named(tool)}, untrusted, left out ({len(text)} characters)")
    return whole_characters("\n".join(lines))  # clients of models cannot send half a character


def parse(text: str) -> list[Message]:
    """Return the user and assistant messages of a transcript, their texts and names as `render` was given them.

    Tool calls, tool results and lines that belong to no message are left out. A name longer than 64 characters comes
    back cut. A message that was `shortened` comes back as its beginning, a line with an ellipsis, and its end.
    """
    messages: list[Message] = []
    current: list[str] | None = None
    for line, line_break in _lines(text):
        if line.startswith(_QUOTE):
            if current is not None:
                current += [line.removeprefix(_QUOTE), line_break]
            continue
        if current is not None and _GAP.fullmatch(line):
            current += ["…", line_break]
            continue
        current = None
        if header := _HEADER.fullmatch(line):
            current = []
            message: Message = {"role": header[1], "content": current}
            if header[2]:
                message["name"] = json.loads(header[2])
            messages.append(message)
    for message in messages:
        # The last break ends the block, not the text.
        message["content"] = "".join(message["content"][:-1])
    return messages


def text_of(message: Message) -> str:
    """Return the text of a canonical message; of a list of parts, the text parts joined by line breaks."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = (part if isinstance(part, str) else part.get("text") for part in content)
    return "\n".join(part for part in parts if isinstance(part, str))


def shortened(message: Message, most_characters: int) -> Message:
    """Return a message with at most so many characters of its text, half of its beginning and half of its end.

    `render` says between the two how much was left out. Words are not cut, where they are separated by blanks.
    """
    text = text_of(message)
    if len(text) <= most_characters:
        return message
    half = most_characters // 2
    head = _WORD_BEGUN.sub("", text[: most_characters - half])
    tail = _WORD_ENDED.sub("", text[len(text) - half :])
    return {**message, "content": head, "tail": tail, "left_out": len(text) - len(head) - len(tail)}


def _tail(message: Message) -> list[str]:
    left_out = message.get("left_out")
    return [f"({left_out:,} characters left out here)", _quote(message["tail"])] if left_out else []


def _lines(text: str) -> Iterator[tuple[str, str]]:
    pieces = _LINE_BREAK.split(text)
    return zip(pieces[::2], [*pieces[1::2], ""], strict=True)


def _quote(text: str) -> str:
    return "".join(f"{_QUOTE}{line}{line_break}" for line, line_break in _lines(text))


def _named(name: object) -> str:
    return f" {_one_line(str(name)[:MAX_NAME_CHARACTERS])}" if name else ""


def _one_line(text: str) -> str:
    """Return the text as a JSON string in which whatever does not print, line breaks included, is escaped."""
    return "".join(
        character if character.isprintable() else json.dumps(character)[1:-1]
        for character in json.dumps(text, ensure_ascii=False)
    )


def _tool_name(call: Message) -> str:
    return str((call.get("function") or {}).get("name") or "tool")


def _call_line(call: Message) -> str:
    arguments = str((call.get("function") or {}).get("arguments") or "")
    cut = arguments[:MAX_ARGUMENTS_CHARACTERS] + ("…" if len(arguments) > MAX_ARGUMENTS_CHARACTERS else "")
    return f"called{_named(_tool_name(call))} with {_one_line(cut)}"
