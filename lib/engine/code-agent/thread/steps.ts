import { type Attempt, attemptStep, currentStep, isRetried, toFailure, toThrown } from './attempt.ts'
import { shorten } from './errors.ts'
import type { StepAnswer, ThreadMessage } from './protocol.ts'
import { serialize, serializeResult } from './serialize.ts'
import { toStepOptions } from './step-options.ts'

/** Taken before an agent can replace it. */
const nextTurn = setImmediate

/** Characters. */
const MAX_STEP_NAME = 1_000

/** Ids are unique in the thread: an answer to an earlier run resumes nothing. */
let lastId = 0
export const nextId = (): number => ++lastId

type Params = {
  storedSteps: [name: string, json: string][]
  post: (message: ThreadMessage) => void
  /** The signal of the run. */
  signal: AbortSignal
  waits: { hold: (id: number, delayMs: number | null) => Promise<void>; suspendIfIdle: () => void }
}

/** The steps of one run. A step that is still going on when the run ends never settles: nobody stores it. */
export function openSteps({ storedSteps, post, signal, waits }: Params) {
  let inProgress = 0
  let starting = 0
  /** Functions that ignored their timeout. */
  let abandoned = 0
  const stored = new Map(storedSteps)
  const used = new Set<string>()
  /** Steps that wait for the worker, by id. */
  const waiting = new Map<number, (answer: StepAnswer) => void>()
  let isOver = false
  const request = (id: number, message: ThreadMessage) =>
    new Promise<StepAnswer>((resolve) => {
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

  const onAbandoned = (going: Promise<unknown>) => {
    abandoned++
    const end = () => void abandoned--
    going.then(end, end)
  }

  /** @param given `fn`, or `options, fn` */
  async function step(name: string, ...given: unknown[]): Promise<unknown> {
    const title = `The step "${shorten(String(name))}"`
    const [options, compute] = given.length > 1 ? [toStepOptions(name, given[0]), given[1]] : [null, given[0]]
    if (typeof compute !== 'function') throw new TypeError(`${title} needs a function as its last argument.`)
    const outer = currentStep()
    if (outer?.isRetried)
      throw new Error(`${title} is inside of the step "${shorten(outer.name)}", whose options may repeat it.`)
    const known = claim(name)
    if (known !== undefined) return JSON.parse(known)
    inProgress++
    try {
      return await settle({ name, options, compute: compute as Attempt['compute'] })
    } finally {
      inProgress--
      waits.suspendIfIdle()
    }
  }

  /** How many agents start in this turn of the event loop, of those that have not been counted. */
  async function countStarting(): Promise<number> {
    starting++
    await new Promise<void>((resolve) => nextTurn(resolve))
    return starting--
  }

  /** The output of another agent. */
  async function run(name: string, slug: string, input: unknown): Promise<unknown> {
    const outer = currentStep()
    const title = `The step "${shorten(String(name))}"`
    if (outer)
      throw new Error(`${title} runs an agent. It cannot be inside of the step "${shorten(outer.name)}".`)
    if (typeof slug !== 'string' || slug === '')
      throw new TypeError(`${title} needs the slug of an agent as its second argument.`)
    if (typeof input !== 'object' || input === null || Array.isArray(input))
      throw new TypeError(`${title} needs an input as its third argument: an object.`)
    const sent = serialize(`The input of ${title}`, input, `The input of ${title} is not JSON.`)
    if ('message' in sent) throw new TypeError(sent.message)
    const known = claim(name)
    if (known !== undefined) return JSON.parse(known)
    inProgress++
    try {
      const id = nextId()
      const parts = await countStarting()
      for (;;) {
        const answer = await request(id, { type: 'run', id, name, slug, json: sent.json, parts })
        if (answer.type === 'step-recorded') return JSON.parse(answer.json)
        if (answer.type === 'step-threw') throw toThrown(answer.failure)
        if (answer.type === 'step-waits') await pause(id, answer)
      }
    } finally {
      inProgress--
      waits.suspendIfIdle()
    }
  }

  /** Asks the worker before each attempt, which answers from what is stored. */
  async function settle({ name, options, compute }: Pick<Attempt, 'name' | 'options' | 'compute'>) {
    const id = nextId()
    const retries = options?.retries ?? 0
    const next: ThreadMessage = { type: 'step', id, name, retries }
    for (let message: ThreadMessage = next; ; ) {
      const answer = await request(id, message)
      message = next
      switch (answer.type) {
        case 'step-recorded':
          return JSON.parse(answer.json)
        case 'step-threw':
          throw toThrown(answer.failure)
        case 'step-waits':
          await pause(id, answer)
          break
        case 'begin-step': {
          const startedAt = Date.now()
          const attempt = { name, options, compute, call: { signal, attempt: answer.attempt }, onAbandoned }
          const ended = await attemptStep(attempt).then(
            (computed) => ({ computed }),
            (error: unknown) => ({ error }),
          )
          if ('computed' in ended) {
            const { json, value } = serializeResult(name, ended.computed)
            await request(id, { type: 'step-result', id, name, json, startedAt })
            return value
          }
          if (!options) throw ended.error
          message = {
            type: 'step-failed',
            id,
            name,
            retries,
            startedAt,
            ...(await judge(attempt, ended.error)),
          }
        }
      }
    }
  }

  /** A short pause holds the worker, so that the step stays in progress. */
  async function pause(id: number, { delayMs, suspends }: Extract<StepAnswer, { type: 'step-waits' }>) {
    const pausing = waits.hold(id, delayMs)
    if (!suspends) return pausing
    inProgress--
    waits.suspendIfIdle()
    await pausing
    inProgress++
  }

  return {
    step,
    run,
    claim,
    isIdle: () => inProgress === 0,
    hasAbandoned: () => abandoned > 0,
    resume(id: number, answer: StepAnswer): void {
      waiting.get(id)?.(answer)
      waiting.delete(id)
    },
    close(): void {
      isOver = true
      waiting.clear()
    },
  }
}

/** What becomes of a failed attempt: its error, and the backoff before the next one. */
async function judge(attempt: Attempt, error: unknown) {
  const { options } = attempt
  try {
    const isLast = !(await isRetried(attempt, error))
    return { failure: toFailure(error), backoff: isLast ? null : (options?.backoff ?? 0) }
  } catch (ofRetryIf) {
    return { failure: toFailure(ofRetryIf), backoff: null }
  }
}
