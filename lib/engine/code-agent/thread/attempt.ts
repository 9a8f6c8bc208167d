import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, shorten } from './errors.ts'
import type { StepFailure } from './protocol.ts'
import type { StepOptions } from './step-options.ts'

/** Taken before an agent can replace them. */
const startTimer = setTimeout
const stopTimer = clearTimeout

const MAX_CODE_CHARACTERS = 100

/** The step whose function is executing. `isRetried`: it may be called again. */
const computing = new AsyncLocalStorage<{ name: string; isRetried: boolean }>()
export const currentStep = () => computing.getStore()

/** What the function of a step is called with. `signal` aborts with the run, and at the timeout of the attempt. */
export type StepCall = { signal: AbortSignal; attempt: number }

export type Attempt = {
  name: string
  /** Null for a step whose function is called once. */
  options: StepOptions | null
  call: StepCall
  compute: (call: StepCall) => unknown
  /** Called with an attempt that has timed out, and whose function goes on. */
  onAbandoned: (going: Promise<unknown>) => void
}

/** Calls the function of a step once. @throws what it throws, or an error with the name `TimeoutError` */
export async function attemptStep({ name, options, call, compute, onAbandoned }: Attempt): Promise<unknown> {
  const run = (given: StepCall) =>
    computing.run({ name, isRetried: options !== null }, async () => compute(given))
  const seconds = options?.timeoutSeconds ?? null
  if (seconds === null) return run(call)
  const timeout = new AbortController()
  const { promise: timedOut, reject } = Promise.withResolvers<never>()
  let going: Promise<unknown> | undefined
  const timer = startTimer(() => {
    const message = `The attempt ${call.attempt} at the step "${shorten(name)}" timed out after ${seconds} s.`
    const error = Object.assign(new Error(message), { name: 'TimeoutError' })
    reject(error)
    if (going) onAbandoned(going)
    timeout.abort(error)
  }, seconds * 1_000)
  try {
    going = run({ ...call, signal: AbortSignal.any([call.signal, timeout.signal]) })
    return await Promise.race([timedOut, going])
  } finally {
    stopTimer(timer)
  }
}

/** Whether another attempt follows. @throws an error that the step throws in place of this one, if `retryIf` throws */
export async function isRetried(
  { name, options, call }: Pick<Attempt, 'name' | 'options' | 'call'>,
  error: unknown,
): Promise<boolean> {
  if (!options || call.attempt > options.retries) return false
  try {
    return Boolean(await options.retryIf(error))
  } catch (cause) {
    const message = `retryIf of the step "${shorten(name)}" threw "${describe(cause).message}" for this error`
    throw new Error(message, { cause: error })
  }
}

/** What the worker keeps of an error. */
export function toFailure(error: unknown): StepFailure {
  const { message, stack } = describe(error)
  const { name, code } = readOwn(error)
  return {
    message,
    stack,
    name: typeof name === 'string' && name !== '' ? name.slice(0, MAX_CODE_CHARACTERS) : 'Error',
    ...((typeof code === 'string' || typeof code === 'number') && {
      code: String(code).slice(0, MAX_CODE_CHARACTERS),
    }),
  }
}

function readOwn(error: unknown): { name?: unknown; code?: unknown } {
  try {
    const { name, code } = error as { name?: unknown; code?: unknown }
    return error instanceof Error ? { name, code } : {}
  } catch {
    return {}
  }
}

/**
 * The error that a step throws: the same whether its last attempt has just failed, or in an earlier worker or run. It
 * has no class of the agent's own, which is not stored.
 */
export const toThrown = ({ message, name, code }: Omit<StepFailure, 'stack'>): Error =>
  Object.assign(new Error(message), { name, ...(code !== undefined && { code }) })
