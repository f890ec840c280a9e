"""A tiny llama model with random weights, written as GGUF: enough to speak JSON under a grammar, and no more.

Its vocabulary: three special tokens, 256 bytes, printable ASCII, some Han characters. Bytes would make broken
UTF-8, at which a grammar gives up; so one channel of the embedding is constant, nothing writes to it, and the
output matrix uses it to push bytes and special tokens far down.
"""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

WIDTH, LAYERS, HEADS, INNER, CONTEXT = 64, 2, 4, 128, 16384
HAN = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分"
    "对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经"
)
SPECIAL = ["<unk>", "<s>", "</s>"]
END = 2
DOWN = -40.0
"""What the constant channel adds to the tokens that must not be chosen."""
QUOTE = 6.0
"""What it adds to the quotation mark, so that strings end."""
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def vocabulary() -> list[tuple[str, gguf.TokenType]]:
    """Every token with its kind."""
    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    tokens = list(zip(SPECIAL, kinds, strict=True))
    tokens += [(f"<0x{byte:02X}>", gguf.TokenType.BYTE) for byte in range(256)]
    characters = ["▁", *map(chr, range(33, 127)), *HAN]
    return tokens + [(character, gguf.TokenType.NORMAL) for character in characters]


def write_model(path: Path, seed: int = 1) -> None:
    """Write the model."""
    tokens = vocabulary()
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("llama")
    writer.add_token_list([text for text, _ in tokens])
    writer.add_token_scores([0.0 if kind != gguf.TokenType.NORMAL else -1.0 for _, kind in tokens])
    writer.add_token_types([kind for _, kind in tokens])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)
    writer.add_chat_template(TEMPLATE)
    for name, tensor in weights(tokens, np.random.default_rng(seed)).items():
        writer.add_tensor(name, tensor.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def weights(tokens: list[tuple[str, gguf.TokenType]], draw: np.random.Generator) -> dict[str, np.ndarray]:
    """Every tensor; rows are outputs."""
    embedding = draw.normal(0, 0.5, (len(tokens), WIDTH))
    embedding[:, 0] = 1.0
    output = draw.normal(0, 0.4, (len(tokens), WIDTH))
    output[:, 0] = [
        0.0 if kind == gguf.TokenType.NORMAL or text == SPECIAL[END] else DOWN for text, kind in tokens
    ]
    output[[text for text, _ in tokens].index('"'), 0] = QUOTE
    tensors = {
        "token_embd.weight": embedding,
        "output_norm.weight": np.ones(WIDTH),
        "output.weight": output,
    }
    for layer in range(LAYERS):
        for name, shape in {
            "attn_q": (WIDTH, WIDTH),
            "attn_k": (WIDTH, WIDTH),
            "attn_v": (WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH),
            "ffn_gate": (INNER, WIDTH),
            "ffn_up": (INNER, WIDTH),
            "ffn_down": (WIDTH, INNER),
        }.items():
            matrix = draw.normal(0, 1 / np.sqrt(shape[1]), shape)
            if name in ("attn_output", "ffn_down"):
                matrix[0] = 0  # nothing writes to the constant channel
            tensors[f"blk.{layer}.{name}.weight"] = matrix
        for name in ("attn_norm", "ffn_norm"):
            tensors[f"blk.{layer}.{name}.weight"] = np.ones(WIDTH)
    return tensors
