import type { Json } from '../../core/json.ts'
import type { System } from '../../core/ports.ts'
import type { Journal } from '../checkpoints/journal.ts'
import { isShuttingDown } from '../checkpoints/stop-reason.ts'
import { isoNow } from '../engine.ts'

/**
 * Runs `fn` once per name, however often the run is resumed: the result is stored, and returned as JSON.
 * @throws an Error if the name was used before in this run
 */
export type StepFunction = <T>(name: string, fn: () => T | Promise<T>) => Promise<T>

/**
 * The `context.step` of one run. When the worker is shutting down, `onShutdown` is called and the step never settles:
 * agents may catch what a step throws, and must not mistake this for a failure.
 */
export function stepFunction(journal: Journal, system: System, onShutdown: () => void): StepFunction {
  const used = new Set<string>()
  const stored = new Map<string, Json>(
    journal.recorded.flatMap(({ step }) => (step.kind === 'CODE' ? [[step.name, step.value] as const] : [])),
  )

  return async <T>(name: string, fn: () => T | Promise<T>) => {
    if (typeof name !== 'string' || name === '')
      throw new TypeError('A step name must be a non-empty string.')
    if (used.has(name))
      throw new Error(`The step name "${name}" is used twice in this run; step names must be unique.`)
    used.add(name)
    if (stored.has(name)) return stored.get(name) as T
    try {
      journal.assertMayBegin()
    } catch (error) {
      if (!isShuttingDown(error)) throw error
      onShutdown()
      return new Promise<never>(() => undefined)
    }
    const startedAt = isoNow(system)
    const value = JSON.parse(JSON.stringify((await fn()) ?? null)) as Json
    await journal.append({ kind: 'CODE', name, value, startedAt, finishedAt: isoNow(system) })
    return value as T
  }
}
