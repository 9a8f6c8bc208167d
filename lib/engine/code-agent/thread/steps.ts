import { isWithinDepth, MAX_JSON_DEPTH } from '../../../core/json.ts'
import { MAX_PAYLOAD_BYTES } from '../../../core/limits.ts'
import { describe, StepError } from './errors.ts'
import type { ThreadMessage } from './protocol.ts'

/** Characters. */
const MAX_STEP_NAME = 1_000

/** Ids are unique in the thread: an answer to an earlier run resumes nothing. */
let lastId = 0

/** The steps of one run. A step that is still going on when the run ends never settles: nobody stores it. */
export function openSteps(
  storedSteps: [name: string, json: string][],
  post: (message: ThreadMessage) => void,
) {
  const stored = new Map(storedSteps)
  const used = new Set<string>()
  /** Steps that wait for the worker, by id. */
  const waiting = new Map<number, () => void>()
  let isOver = false
  const request = (id: number, message: ThreadMessage) =>
    new Promise<void>((resolve) => {
      if (isOver) return
      waiting.set(id, resolve)
      post(message)
    })

  async function step(name: string, compute: () => unknown): Promise<unknown> {
    if (typeof name !== 'string' || name === '')
      throw new TypeError('A step name must be a non-empty string.')
    if (!name.isWellFormed())
      throw new TypeError(`The step name "${shorten(name)}" contains half of a surrogate pair.`)
    if (name.length > MAX_STEP_NAME)
      throw new RangeError(`A step name may have at most ${MAX_STEP_NAME} characters.`)
    if (typeof compute !== 'function')
      throw new TypeError(`The step "${shorten(name)}" needs a function as its second argument.`)
    if (used.has(name))
      throw new Error(
        `The step name "${shorten(name)}" is used twice in this run; step names must be unique.`,
      )
    used.add(name)
    const known = stored.get(name)
    if (known !== undefined) return JSON.parse(known)
    const id = ++lastId
    await request(id, { type: 'step', id, name })
    const startedAt = Date.now()
    const { json, value } = serialize(name, await compute())
    await request(id, { type: 'step-result', id, name, json, startedAt })
    return value
  }

  return {
    step,
    resume(id: number): void {
      waiting.get(id)?.()
      waiting.delete(id)
    },
    close(): void {
      isOver = true
      waiting.clear()
    },
  }
}

/** Here, like the output, so that no value blocks or stops the worker. The value is what another attempt would read. */
function serialize(name: string, computed: unknown): { json: string; value: unknown } {
  const title = `The result of the step "${shorten(name)}"`
  let json: string | undefined
  try {
    json = JSON.stringify(computed ?? null)
  } catch (cause) {
    throw new Error(`${title} cannot be serialized as JSON: ${describe(cause).message}`)
  }
  if (json === undefined) throw new Error(`${title} has the type ${typeof computed}, which is not JSON.`)
  const bytes = byteLength(json)
  if (bytes > MAX_PAYLOAD_BYTES)
    throw new StepError('OutputTooLarge', `${title} has ${bytes} bytes; the limit is ${MAX_PAYLOAD_BYTES}.`)
  const value: unknown = JSON.parse(json)
  if (!isWithinDepth(value)) throw new Error(`${title} is nested deeper than ${MAX_JSON_DEPTH} levels.`)
  return { json, value }
}

const MAX_NAME = 100
const shorten = (name: string) => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name)

/** Of a text that is far too long, its characters are enough. */
export const byteLength = (text: string): number =>
  text.length > MAX_PAYLOAD_BYTES ? text.length : Buffer.byteLength(text)
