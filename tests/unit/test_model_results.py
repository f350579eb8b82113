"""What models give and raise, as answers and errors: whatever the kind of model."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage
from openai.types.chat import ChatCompletion

from impressmem_integrations.core.effects import AskModel
from impressmem_integrations.errors import ConfigurationError, ModelError, ToolsUnsupported
from impressmem_integrations.maintenance.models import aanswering, answering
from impressmem_integrations.maintenance.models.results import says_no_tools

TOOL = {"type": "function", "function": {"name": "x", "parameters": {"type": "object", "properties": {}}}}
MESSAGES = [
    {"role": "system", "content": "Keep the memory."},
    {"role": "user", "content": "user:\n| my pin is 4711\n| and I live at 12 Long Street, Oslo"},
]
QUESTION = AskModel(MESSAGES, [TOOL])


class StatusError(Exception):
    """As the providers' clients raise them."""

    def __init__(self, message, status):
        super().__init__(message)
        self.status_code = status


def raising(error):
    def model(messages, tools):
        raise error

    return model


@pytest.mark.parametrize(
    "message",
    [
        "registry.ollama.ai/library/gemma:2b does not support tools",
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        "tools param requires --jinja flag",
        "`tool calling` is not supported with this model",
        "No endpoints found that support tool use. To learn more about provider routing, visit: ...",
        "This model doesn't support tool use.",
        "Function calling is not enabled for models/gemma-3-27b-it",
        "deepseek-reasoner does not support Function Calling",
        "tools is not supported in this model. For a list of supported models, see the documentation",
        "Tool use is not available for this model",
        "Unsupported parameter: 'tools' is unsupported",
    ],
)
def test_tc_14_messages_that_say_the_model_takes_no_tools(message):
    assert says_no_tools(message)
    with pytest.raises(ToolsUnsupported):
        answering(raising(StatusError(message, 400)))(QUESTION)
    # Without tools in the question the same words are just a failure.
    with pytest.raises(ModelError) as caught:
        answering(raising(StatusError(message, 400)))(AskModel(MESSAGES))
    assert not isinstance(caught.value, ToolsUnsupported)


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("rate limit reached", 429),
        ("does not support tools", 429),
        ("does not support tools", 401),
        ("tools.0.function.parameters: maxItems is not supported", 400),
        ("tools[0]: this schema is not supported", 400),
        ("the model does not exist", 404),
        ("Your region is not supported.", 403),
        ("Temperature is not supported with this model", 400),
        ("this model does not support image input", 400),
    ],
)
def test_other_failures_do_not_switch_tools_off(message, status):
    with pytest.raises(ModelError) as caught:
        answering(raising(StatusError(message, status)))(QUESTION)
    assert not isinstance(caught.value, ToolsUnsupported)
    assert message in str(caught.value)
    assert str(status) in str(caught.value)


class APIConnectionError(Exception):
    """What SDKs call it."""


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 529])
def test_failures_of_the_provider_may_pass(status):
    with pytest.raises(ModelError) as caught:
        answering(raising(StatusError("slow down", status)))(QUESTION)
    assert caught.value.passing


@pytest.mark.parametrize(
    "error", [TimeoutError(), ConnectionResetError(), OSError(), APIConnectionError(), ValueError()]
)
def test_without_a_status_only_a_line_that_broke_may_pass(error):
    with pytest.raises(ModelError) as caught:
        answering(raising(error))(QUESTION)
    assert caught.value.passing == (type(error) not in (OSError, ValueError))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422, 501])
def test_failures_of_the_request_do_not_pass(status):
    with pytest.raises(ModelError) as caught:
        answering(raising(StatusError("no", status)))(QUESTION)
    assert not caught.value.passing


@pytest.mark.parametrize(("code", "passing"), [(429, True), (502, True), (400, False), ("busy", False), (None, False)])
def test_an_error_in_a_body_may_pass_by_its_code(code, passing):
    with pytest.raises(ModelError) as caught:
        answering(lambda *_: {"error": {"message": "no", "code": code}})(QUESTION)
    assert caught.value.passing == passing


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), ("0.5", 0.5), ("-1", None), ("soon", None), ("nan", None)])
def test_how_long_the_provider_asked_to_wait(header, seconds):
    error = StatusError("slow down", 429)
    error.response = SimpleNamespace(headers={"retry-after": header})
    with pytest.raises(ModelError) as caught:
        answering(raising(error))(QUESTION)
    assert caught.value.after_seconds == seconds


@pytest.mark.parametrize(
    "message",
    [
        "cannot parse 'my pin is 4711'",
        'bad request: {"content": "user:\\n| my pin is 4711\\n| and I live at 12 Long Street, Oslo"}',
        "unexpected token near 'live at 12 Long Stre'",
        "Keep the memory. is too long",
    ],
)
def test_sp_09_an_error_that_quotes_the_request_is_told_without_the_quotation(message):
    with pytest.raises(ModelError) as caught:
        answering(raising(StatusError(message, 400)))(QUESTION)
    assert "4711" not in str(caught.value)
    assert "Long" not in str(caught.value)
    assert "StatusError 400" in str(caught.value)


def test_sp_09_an_error_of_reading_the_answer_is_told_without_the_answer():
    class Unreadable(Exception):
        def error_count(self):
            return 1

    with pytest.raises(ModelError) as caught:
        answering(raising(Unreadable("input_value='the diagnosis is secret'")))(QUESTION)
    assert "diagnosis" not in str(caught.value)


@pytest.mark.parametrize("result", [None, 42, [], object(), {"result": "x"}, {"name": "save_impressions"}])
def test_tc_18_what_is_no_answer_is_a_failure(result):
    with pytest.raises(ModelError, match="no text and no message: a message has content or tool_calls"):
        answering(lambda messages, tools: result)(QUESTION)


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "MALFORMED_FUNCTION_CALL", "refusal", "error"])
def test_tc_18_an_answer_that_the_provider_ended_is_a_failure(reason):
    call = {"id": "1", "type": "function", "function": {"name": "save_impressions", "arguments": "{}"}}
    for message in ({"content": ""}, {"content": None, "tool_calls": [call]}):
        with pytest.raises(ModelError, match=reason.lower()):
            answering(lambda messages, tools, said=message: {**said, "finish_reason": reason})(QUESTION)


DECLINED = "I can't do that."


@pytest.mark.parametrize(
    "answer",
    [
        {"choices": [{"message": {"content": None, "refusal": DECLINED}, "finish_reason": "stop"}]},
        ChatCompletion.model_validate(
            {
                "id": "c",
                "created": 0,
                "model": "m",
                "object": "chat.completion",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": None, "refusal": DECLINED},
                    }
                ],
            }
        ),
        AIMessage("", additional_kwargs={"refusal": DECLINED}),
        AIMessage([{"type": "refusal", "refusal": DECLINED}]),
        {"output": [{"type": "message", "content": [{"type": "refusal", "refusal": DECLINED}]}], "status": "completed"},
        SimpleNamespace(
            message=SimpleNamespace(content="", blocks=[]),
            raw={"choices": [{"message": {"content": None, "refusal": DECLINED}}]},
        ),
    ],
)
def test_tc_18_a_refusal_is_a_failure_that_says_what_the_model_said(answer):
    with pytest.raises(ModelError, match="it refused: I can't do that"):
        answering(lambda *_: answer)(QUESTION)


def test_sp_09_a_refusal_that_quotes_the_request_is_told_without_the_quotation():
    with pytest.raises(ModelError, match="it refused") as caught:
        answering(lambda *_: {"content": None, "refusal": "I will not keep 'my pin is 4711'."})(QUESTION)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"content": "Let me save this.", "finish_reason": "tool_calls"}, "ended with tool_calls and holds no call"),
        ({"content": [], "stop_reason": "tool_use"}, "ended with tool_use and holds no call"),
        ({"content": None, "tool_calls": "x"}, "no list"),
        ({"choices": [{"message": {"content": None, "tool_calls": {"name": "save_impressions"}}}]}, "no list"),
    ],
)
def test_tc_18_an_answer_whose_calls_were_lost_is_a_failure(answer, reason):
    with pytest.raises(ModelError, match=reason):
        answering(lambda *_: answer)(QUESTION)


def test_an_empty_answer_that_stopped_by_itself_is_an_answer():
    assert answering(lambda *_: {"content": None, "tool_calls": None, "finish_reason": "stop"})(QUESTION).text == ""


def test_a_function_gets_copies_that_it_may_change():
    def model(messages, tools):
        messages.clear()
        tools[0]["function"]["parameters"]["additionalProperties"] = False
        return "IGNORE"

    assert answering(model)(QUESTION).text == "IGNORE"
    assert len(QUESTION.messages) == 2
    assert "additionalProperties" not in TOOL["function"]["parameters"]


def test_asked_without_tools_a_function_gets_none():
    assert answering(lambda messages, tools: f"{tools}")(AskModel(MESSAGES)).text == "None"


async def test_a_blocking_function_does_not_stop_the_loop():
    """It returns only after the loop has gone on."""
    release = threading.Event()

    def model(messages, tools):
        assert release.wait(30)
        return "IGNORE"

    job = asyncio.create_task(aanswering(model)(QUESTION))
    await asyncio.sleep(0)
    release.set()
    assert (await job).text == "IGNORE"


async def test_async_functions_and_functions_that_give_awaitables():
    async def model(messages, tools):
        return {"content": "IGNORE"}

    class Model:
        async def __call__(self, messages, tools):
            return await model(messages, tools)

    for form in (model, Model(), lambda messages, tools: model(messages, tools)):
        assert (await aanswering(form)(QUESTION)).text == "IGNORE"
    for form in (model, Model()):
        with pytest.raises(ConfigurationError, match="amaintain"):
            answering(form)
    with pytest.raises(ModelError, match="amaintain"):
        answering(lambda messages, tools: model(messages, tools))(QUESTION)


@pytest.mark.parametrize("wrong", [None, "gpt-4o", 3, dict, object()])
def test_what_is_no_model(wrong):
    for form in (answering, aanswering):
        with pytest.raises(ConfigurationError, match="chat model"):
            form(wrong)
