"""Serves a GGUF file with llama.cpp: serve_model.py <file> [embeddings]. Prints `ready <url>`; ends when its input is
closed. With `embeddings`, it serves these alone: the mean of the hidden states of a text."""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 16384
params.n_parallel = 2
params.kv_unified = True
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_threads_http = 4
params.cache_ram_mib = 0
params.warmup = False
params.verbosity = 1
params.fit_params = False
params.ui = False
if sys.argv[2:] == ["embeddings"]:
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN

server = xllamacpp.Server(params)
print(f"ready {server.listening_address}", flush=True)
sys.stdin.read()
