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


def random_logits(random: np.random.Generator) -> np.ndarray:
    """How likely each token is on its own: printable ASCII, and what ends a value more often than the rest."""
    logits = np.full(len(TOKENS), -8.0)
    logits[32:127] = random.normal(0, 0.3, 95)
    for character, logit in {'"': 2.3, "}": -1, "]": 0, ",": -4, "<": -4, "\\": -2, " ": -8, "e": -4, "E": -4}.items():
        logits[ord(character)] = logit
    return logits


def weights(random: np.random.Generator) -> dict[str, np.ndarray]:
    """
    Dimensions of an embedding: 0 is the same for all tokens, 1 to 5 are features of some tokens, 6 and 7 are written by
    the attention heads, the rest is noise. `scale` is what the norm makes of dimension 0.
    """
    size, constant = len(TOKENS), 8.0
    embedding = np.zeros((size, WIDTH))
    embedding[:, 0] = constant
    embedding[:, 8:] = random.normal(0, 0.05, (size, WIDTH - 8))
    assistant, call_end, tool, quote, brace = 1, 2, 3, 4, 5
    features = {"<|assistant|>": assistant, "</tool_call>": call_end, "<|tool|>": tool, '"': quote, "}": brace}
    for token, feature in features.items():
        embedding[ID[token], feature] = 1.0
    scale = np.sqrt(WIDTH) / constant

    # The last dimension of a head is turned least by the position (RoPE); with this base, not noticeably.
    query, key, value, output = (np.zeros((WIDTH, WIDTH)) for _ in range(4))
    last = [HEAD_WIDTH - 1, 2 * HEAD_WIDTH - 1]
    sharpness = 40.0 * np.sqrt(HEAD_WIDTH)
    # Head 0 sees the results of tools, if there are any; else it looks at everything.
    query[last[0], 0], key[last[0], tool] = sharpness / np.sqrt(WIDTH), 1 / scale
    value[0, tool], output[6, 0] = 1 / scale, 1
    # Head 1 sees the ends of calls and the begins of answers: 0, 1/2 and 2/3 after no, one and two calls.
    query[last[1], 0] = sharpness / np.sqrt(WIDTH)
    key[last[1], [assistant, call_end]] = 1 / scale
    value[HEAD_WIDTH, call_end], output[7, HEAD_WIDTH] = 1 / scale, 1

    head = np.zeros((size, WIDTH))
    head[:, 0] = random_logits(random) / np.sqrt(WIDTH)
    head[:, 8:] = random.normal(0, 1.0, (size, WIDTH - 8))

    def add(token: str, weights_of: dict[int, float]) -> None:
        for dimension, weight in weights_of.items():
            head[ID[token], dimension] += weight / (np.sqrt(WIDTH) if dimension == 0 else scale)

    seen_result, calls = 6, 7
    add("<tool_call>", {assistant: 60, call_end: 20})
    add("</tool_call>", {brace: 10})
    add("<|end|>", {assistant: -300, call_end: 20 - 140 * 7 / 12, calls: 140, seen_result: 140})
    add("f", {0: -18, quote: 14, seen_result: 14})
    return {
        "token_embd": embedding,
        "output": head,
        "output_norm": np.ones(WIDTH),
        "blk.0.attn_norm": np.ones(WIDTH),
        "blk.0.attn_q": query,
        "blk.0.attn_k": key,
        "blk.0.attn_v": value,
        "blk.0.attn_output": output,
        "blk.0.ffn_norm": np.ones(WIDTH),
        "blk.0.ffn_gate": random.normal(0, 0.01, (WIDTH, WIDTH)),
        "blk.0.ffn_up": random.normal(0, 0.01, (WIDTH, WIDTH)),
        "blk.0.ffn_down": np.zeros((WIDTH, WIDTH)),
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
