import { AsyncLocalStorage } from 'node:async_hooks'
import { isWithinDepth, MAX_JSON_DEPTH } from '../../../core/json/json.ts'
import { findExcess } from '../../../core/payload-size.ts'
import { describe, StepError } from './errors.ts'
import type { RunResult, ThreadMessage } from './protocol.ts'

type Invalid = Omit<Extract<RunResult, { type: 'invalid' }>, 'type'>

/** Characters. */
const MAX_STEP_NAME = 1_000

/** Ids are unique in the thread: an answer to an earlier run resumes nothing. */
let lastId = 0
export const nextId = (): number => ++lastId

/** The step whose function is executing. */
const computing = new AsyncLocalStorage<string>()
export const currentStep = (): string | undefined => computing.getStore()

/**
 * The steps of one run. A step that is still going on when the run ends never settles: nobody stores it.
 * @param onIdle called when the last step that was in progress has ended
 */
export function openSteps(
  storedSteps: [name: string, json: string][],
  post: (message: ThreadMessage) => void,
  onIdle: () => void,
) {
  let inProgress = 0
  const stored = new Map(storedSteps)
  const used = new Set<string>()
  /** Steps that wait for the worker, by id. */
  const waiting = new Map<number, (json?: string) => void>()
  let isOver = false
  const request = (id: number, message: ThreadMessage) =>
    new Promise<string | undefined>((resolve) => {
      if (isOver) return
      waiting.set(id, resolve)
      post(message)
    })

  /** The stored result of a step or wait with this name, as JSON; undefined if there is none. */
  function claim(name: string): string | undefined {
    if (typeof name !== 'string' || name === '')
      throw new TypeError('A step name must be a non-empty string.')
    if (!name.isWellFormed())
      throw new TypeError(`The step name "${shorten(name)}" contains half of a surrogate pair.`)
    if (name.length > MAX_STEP_NAME)
      throw new RangeError(`A step name may have at most ${MAX_STEP_NAME} characters.`)
    if (used.has(name))
      throw new Error(
        `The step name "${shorten(name)}" is used twice in this run; step names must be unique.`,
      )
    used.add(name)
    return stored.get(name)
  }

  async function step(name: string, compute: () => unknown): Promise<unknown> {
    if (typeof compute !== 'function')
      throw new TypeError(`The step "${shorten(String(name))}" needs a function as its second argument.`)
    const known = claim(name)
    if (known !== undefined) return JSON.parse(known)
    const id = nextId()
    inProgress++
    try {
      const recorded = await request(id, { type: 'step', id, name })
      if (recorded !== undefined) return JSON.parse(recorded)
      const startedAt = Date.now()
      const { json, value } = serializeResult(name, await computing.run(name, async () => compute()))
      await request(id, { type: 'step-result', id, name, json, startedAt })
      return value
    } finally {
      inProgress--
      if (inProgress === 0) onIdle()
    }
  }

  return {
    step,
    claim,
    isIdle: () => inProgress === 0,
    /** @param json the result of the step, if it need not be computed */
    resume(id: number, json?: string): void {
      waiting.get(id)?.(json)
      waiting.delete(id)
    },
    close(): void {
      isOver = true
      waiting.clear()
    },
  }
}

/** The value is what another attempt would read. */
function serializeResult(name: string, computed: unknown): { json: string; value: unknown } {
  const title = `The result of the step "${shorten(name)}"`
  const notJson = `${title} has the type ${typeof computed}, which is not JSON.`
  const result = serialize(title, computed ?? null, notJson)
  if ('message' in result)
    throw result.code === 'OutputTooLarge'
      ? new StepError(result.code, result.message)
      : new Error(result.message)
  const value: unknown = JSON.parse(result.json)
  if (!isWithinDepth(value)) throw new Error(`${title} is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  return { json: result.json, value }
}

/** The JSON of a value, or why it has none. In the thread, so that no value of any kind or size stops the worker. */
export function serialize(title: string, value: unknown, notJson: string): { json: string } | Invalid {
  let json: string | undefined
  try {
    json = JSON.stringify(value)
  } catch (cause) {
    const message = `${title} cannot be serialized as JSON: ${describe(cause).message}`
    return { code: 'OutputSchemaMismatch', message }
  }
  if (json === undefined) return { code: 'OutputSchemaMismatch', message: notJson }
  return findExcess(title, json) ?? { json }
}

const MAX_NAME = 100
export const shorten = (name: string) => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name)
