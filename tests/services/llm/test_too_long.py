"""Wordings of providers and servers, taken from their error messages in public issues."""

from oracle.services.llm.too_long import is_too_long
from tests.tables import each_row

TOO_LONG = [
    # DashScope, DeepSeek, Groq, Volcengine, vLLM, Bedrock, OpenAI: the output's longest length
    "Range of input length should be [1, 30720]",
    "<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]",
    "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
    "max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000",
    "max_tokens (current value: 4096) must be between 0 and 4000 ",
    "The parameter max_tokens specified in the request is not valid: integer above maximum value, "
    "expected a value <= 32768, but got 64000 instead. Request id: 02177",
    "max_tokens=384000 cannot be greater than max_model_len=max_total_tokens=262144. Please "
    "request fewer output tokens.",
    "max_new_tokens exceeds limit",
    "The maximum tokens you requested exceeds the model limit of 2048. Try again with a maximum "
    "tokens value that is lower than 2048.",
    "max_tokens is too large: 16384. This model supports at most 4096 completion tokens",
    # Bedrock Mantle, Kimi, MiniMax, Perplexity, GitHub Models, watsonx, Zhipu, AI21, ds4
    "prompt tokens (1200008) exceed model maximum (1050000) for openai.gpt-5.6-terra",
    "Invalid request: Your request exceeded model token limit: 262144",
    "invalid params, context window exceeds limit (2013)",
    "The total length of all messages is too long.",
    "Request body too large for gpt-4 model. Max size: 8000 tokens.",
    "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model",
    "Prompt exceeds max length",
    "Prompt 超长",
    "输入的 token 数超过模型上下文限制",
    "Prompt tokens (9000) exceeds context size (4096)",
    "Malformed input request: expected maxLength: 2048, actual: 24192, please reformat your input",
    "Token indices sequence length is longer than the specified maximum sequence length for this "
    "model (3793 > 1024).",
    "Input prompt has 5000 tokens, but the limit is 4096.",
    "tokens in request more than max tokens allowed",
    "input_too_long: Input too long",
    "model_context_window_exceeded",
]
NOT_TOO_LONG = [
    "Rate limit reached for gpt-4o on tokens per min: Limit 30000, Used 29000",
    "You exceeded your current quota, please check your plan and billing details.",
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
    "Daily token limit exceeded: 100000 of 100000 tokens used today",
    "`max_tokens` must be greater than `thinking.budget_tokens`",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
    "'max_completion_tokens' instead.",
    "max_tokens: field required",
    "max_tokens must be a positive integer",
    "temperature must be between 0 and 2",
    "messages: at least one message is required",
    "messages: roles must alternate between user and assistant",
    "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64, "
    "but got a string with length 70 instead.",
    "tools: too many tools, at most 128 are allowed",
    "stop: too many sequences, max 4",
    "The access token has expired; tokens are valid for at most 60 minutes",
    "queue length 200 exceeds limit 100",
    "image exceeds 5 MB maximum",
    "model overloaded, please retry",
    "invalid value for 'response_format'",
    "The output was blocked by the content filter.",
]


@each_row("said", TOO_LONG)
def test_a_message_says_that_the_text_or_its_output_is_too_long(said):
    assert is_too_long(said)


@each_row("said", NOT_TOO_LONG)
def test_other_messages_do_not_say_so(said):
    assert not is_too_long(said)


def test_a_long_body_costs_no_time():
    assert not is_too_long("max 1 " * 50_000)
    assert not is_too_long("tokens max " * 50_000)
    assert not is_too_long("x; " * 200_000)
