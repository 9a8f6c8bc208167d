"""Writes the weights of a llama with one layer and a vocabulary of bytes, about 130 kB: build_tiny_model.py <file>

Its text is random, but the weights give it four habits, so that every run of an agent ends:
- strings, lists and objects end soon;
- an answer begins with a tool call, where the server's grammar allows one;
- the first answer contains two tool calls;
- with a tool result in its context it makes one call, of a tool whose name begins with "f" (final_answer).
"""

import sys

import numpy as np
from gguf import GGMLQuantizationType, GGUFWriter, TokenType

WIDTH, HEADS, CONTEXT = 64, 2, 16384
HEAD_WIDTH = WIDTH // HEADS

# One token per message role, so that the last token of the prompt says who speaks.
CONTROL = ["<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|tool|>"]
MARKERS = ["<tool_call>", "</tool_call>"]

# The format of Hermes, which llama.cpp recognizes.
TEMPLATE = """\
{%- if tools %}<|system|>Tools:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}<|end|>{% endif %}
{%- for message in messages %}
{{- '<|' + message.role + '|>' }}{{ message.content or '' }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>{"name": "' + call.function.name + '", "arguments": ' }}{{ call.function.arguments | tojson }}}</tool_call>
{%- endfor %}<|end|>
{%- endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""


def byte_letters() -> list[str]:
    """The letter that stands for each byte in vocabularies of the GPT-2 kind."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


TOKENS = byte_letters() + CONTROL + MARKERS
ID = {token: index for index, token in enumerate(TOKENS)}


# Dimensions of an embedding. CONSTANT is the same for all tokens, and so large that the norms change little; the next ones
# mark tokens; SEEN_RESULT and CALLS are written by the attention; the rest is noise.
CONSTANT, ASSISTANT, CALL_END, TOOL, QUOTE, BRACE, SEEN_RESULT, CALLS, NOISE = range(9)
CONSTANT_VALUE = np.sqrt(WIDTH)
MARKED = {"<|assistant|>": ASSISTANT, "</tool_call>": CALL_END, "<|tool|>": TOOL, '"': QUOTE, "}": BRACE}

# How likely a character is, compared with the others of ASCII (0): texts end soon, and syntax is rare in them. Numbers end
# soon, too: the service asks again for one that a double cannot hold, and a random model would write another one.
CHARACTERS = {'"': 2.3, "}": -1, "]": 0, ",": -4, "<": -4, "\\": -2, " ": -8, "e": -8, "E": -8, ".": -3}
CHARACTERS |= {digit: -2.5 for digit in "0123456789"}

# What a token gains after another one, or after what the attention has seen.
HABITS = {
    "<tool_call>": {ASSISTANT: 60, CALL_END: 20},
    "</tool_call>": {BRACE: 10},
    # Ends an answer after the second call, or after the first one when there are results. CALLS is 1/2 and 2/3 then.
    "<|end|>": {ASSISTANT: -300, CALL_END: 20 - 140 * 7 / 12, CALLS: 140, SEEN_RESULT: 140},
    "f": {CONSTANT: -18 / CONSTANT_VALUE, QUOTE: 14, SEEN_RESULT: 14},
}


def embeddings(random: np.random.Generator) -> np.ndarray:
    result = np.zeros((len(TOKENS), WIDTH))
    result[:, NOISE:] = random.normal(0, 0.05, (len(TOKENS), WIDTH - NOISE))
    result[:, CONSTANT] = CONSTANT_VALUE
    for token, dimension in MARKED.items():
        result[ID[token], dimension] = 1
    return result


def attention() -> dict[str, np.ndarray]:
    """The first head writes SEEN_RESULT: 1 after a tool's result, else 0. The second one writes CALLS."""
    query, key, value, output = (np.zeros((WIDTH, WIDTH)) for _ in range(4))
    # Positions rotate the last dimension of a head least (RoPE); with our frequency, not noticeably.
    first, second = HEAD_WIDTH - 1, 2 * HEAD_WIDTH - 1
    query[[first, second], CONSTANT] = 40 * np.sqrt(HEAD_WIDTH) / CONSTANT_VALUE
    key[first, TOOL] = 1
    value[0, TOOL], output[SEEN_RESULT, 0] = 1, 1
    # Of all ends of calls and begins of answers, the share of ends.
    key[second, [ASSISTANT, CALL_END]] = 1
    value[HEAD_WIDTH, CALL_END], output[CALLS, HEAD_WIDTH] = 1, 1
    return {"attn_q": query, "attn_k": key, "attn_v": value, "attn_output": output}


def output_head(random: np.random.Generator) -> np.ndarray:
    logits = np.full(len(TOKENS), -8.0)
    logits[ord(" ") : 127] = random.normal(0, 0.3, 95)
    for character, logit in CHARACTERS.items():
        logits[ord(character)] = logit
    result = np.zeros((len(TOKENS), WIDTH))
    result[:, CONSTANT] = logits / CONSTANT_VALUE
    result[:, NOISE:] = random.normal(0, 1, (len(TOKENS), WIDTH - NOISE))
    for token, habit in HABITS.items():
        for dimension, logit in habit.items():
            result[ID[token], dimension] += logit
    return result


def weights(random: np.random.Generator) -> dict[str, np.ndarray]:
    layer = {
        "attn_norm": np.ones(WIDTH),
        **attention(),
        "ffn_norm": np.ones(WIDTH),
        **{name: np.zeros((WIDTH, WIDTH)) for name in ("ffn_gate", "ffn_up", "ffn_down")},
    }
    return {
        "token_embd": embeddings(random),
        "output": output_head(random),
        "output_norm": np.ones(WIDTH),
        **{f"blk.0.{name}": tensor for name, tensor in layer.items()},
    }


def write(path: str) -> None:
    writer = GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(WIDTH)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(HEAD_WIDTH)
    writer.add_rope_freq_base(1e12)
    writer.add_vocab_size(len(TOKENS))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(TOKENS)
    normal, control, marker = TokenType.NORMAL, TokenType.CONTROL, TokenType.USER_DEFINED
    writer.add_token_types([normal] * 256 + [control] * len(CONTROL) + [marker] * len(MARKERS))
    # A vocabulary of this kind has merges; this one never applies.
    writer.add_token_merges([f"{TOKENS[0]} {TOKENS[0]}"])
    writer.add_eos_token_id(ID["<|end|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in weights(np.random.default_rng(0)).items():
        if tensor.ndim == 1:
            writer.add_tensor(f"{name}.weight", tensor.astype(np.float32))
        else:
            writer.add_tensor(f"{name}.weight", tensor.astype(np.float16), raw_dtype=GGMLQuantizationType.F16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    write(sys.argv[1])
