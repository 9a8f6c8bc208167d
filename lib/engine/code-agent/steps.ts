import type { Json } from '../../core/json.ts'
import type { System } from '../../core/ports.ts'
import { WorkerLeaves } from '../checkpoints/deadline.ts'
import type { Journal } from '../checkpoints/journal.ts'

/**
 * Runs `fn` once for each name, however often the run is resumed: its result is stored, and given back as JSON.
 * @throws an Error when the name was used before in this run
 */
export type StepFunction = <T>(name: string, fn: () => T | Promise<T>) => Promise<T>

/**
 * The `context.step` of one run. When the worker has to leave, `leave` is called and the step does not settle: agents
 * may catch what a step throws, and must not take it for a failure.
 */
export function stepFunction(journal: Journal, system: System, leave: () => void): StepFunction {
  const used = new Set<string>()
  const stored = new Map<string, Json>(
    journal.recorded.flatMap(({ step }) => (step.kind === 'CODE' ? [[step.name, step.value] as const] : [])),
  )
  const now = () => new Date(system.now()).toISOString()

  return async <T>(name: string, fn: () => T | Promise<T>) => {
    if (typeof name !== 'string' || name === '')
      throw new TypeError('A step needs a name, a text that is not empty.')
    if (used.has(name))
      throw new Error(`The step name "${name}" is used twice in one run; each step needs its own.`)
    used.add(name)
    if (stored.has(name)) return stored.get(name) as T
    try {
      journal.mayBegin()
    } catch (error) {
      if (!(error instanceof WorkerLeaves)) throw error
      leave()
      return new Promise<never>(() => undefined)
    }
    const startedAt = now()
    const value = JSON.parse(JSON.stringify((await fn()) ?? null)) as Json
    await journal.append({ kind: 'CODE', name, value, startedAt, finishedAt: now() })
    return value as T
  }
}
