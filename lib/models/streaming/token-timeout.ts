import { ModelError } from '../../core/model.ts'

/** How long a provider may send no token, in milliseconds. */
export type TokenTimeouts = { firstMs: number; nextMs: number }

export const TOKEN_TIMEOUTS: TokenTimeouts = { firstMs: 600_000, nextMs: 120_000 }

export type TokenTimeout = {
  /** Aborts when the caller's signal aborts, or when the next token takes too long. */
  signal: AbortSignal
  /** Also where a provider may send nothing while the model works: not all send its reasoning, or an input before it is complete. */
  expectFirst: () => void
  expectNext: () => void
  stop: () => void
}

/** Starts to wait for the first token of a provider. */
export function startTokenTimeout(
  provider: string,
  timeouts: TokenTimeouts,
  caller: AbortSignal,
): TokenTimeout {
  const controller = new AbortController()
  const follow = () => controller.abort(caller.reason)
  // Not `AbortSignal.any`: the caller's signal outlives the request and would retain each combined signal.
  caller.addEventListener('abort', follow, { once: true })
  if (caller.aborted) follow()
  let timer: NodeJS.Timeout | undefined
  const expect = (ms: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      const message = `${provider} sent no token for ${ms / 1000} s.`
      controller.abort(new ModelError(message, { isTransient: true }))
    }, ms)
  }
  expect(timeouts.firstMs)
  return {
    signal: controller.signal,
    expectFirst: () => expect(timeouts.firstMs),
    expectNext: () => expect(timeouts.nextMs),
    stop: () => {
      clearTimeout(timer)
      caller.removeEventListener('abort', follow)
    },
  }
}
