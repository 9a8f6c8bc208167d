import { MAX_WAIT_DAYS, MAX_WAIT_NAME } from '../../../core/limits.ts'
import { isSignalName, SIGNAL_NAME_RULE, type WaitCall } from '../../../core/wait.ts'
import { currentStep } from './attempt.ts'
import { shorten } from './errors.ts'
import type { ThreadMessage } from './protocol.ts'
import { serializeData } from './serialize.ts'
import { nextId, type openSteps } from './steps.ts'

const MAX_SECONDS = MAX_WAIT_DAYS.max * 86_400
const MAX_TITLE = 1_000
const MAX_NAMES = 100

/** Taken before an agent can replace them. */
const nextTurn = setImmediate
const startTimer = setTimeout
const stopTimer = clearTimeout

type Timeout = { timeoutSeconds?: number }

/**
 * The waits of one run. When the agent does nothing but wait, the run is suspended: no step is in progress, the worker
 * has answered every wait, and a turn of the event loop has brought nothing else. What is not a step is lost then.
 */
export function openWaits(post: (message: ThreadMessage) => void, publicUrl: string | undefined) {
  const { promise: suspended, resolve: suspend } = Promise.withResolvers<{ type: 'suspended' }>()
  const waiting = new Map<number, { isOpen: boolean; end: (json: string) => void }>()
  const signalWaits = new Map<string, number>()
  const timers = new Set<NodeJS.Timeout>()
  let steps: Pick<ReturnType<typeof openSteps>, 'claim' | 'isIdle'>
  let isOver = false

  const isIdle = () =>
    !isOver && waiting.size > 0 && steps.isIdle() && [...waiting.values()].every(({ isOpen }) => isOpen)

  const suspendIfIdle = () => {
    if (isIdle())
      nextTurn(() => {
        if (!isIdle()) return
        suspend({ type: 'suspended' })
        stopTimers()
      })
  }

  /** What ends after the run was suspended would be lost: the worker has its time. */
  const stopTimers = () => {
    for (const timer of timers) stopTimer(timer)
  }

  async function wait(name: string, describe: () => WaitCall): Promise<unknown> {
    const step = currentStep()
    if (step) throw new Error(`The step "${shorten(step.name)}" cannot wait. Wait outside of steps.`)
    const call = describe()
    const isOfSignal = call.kind === 'signal' && !call.isAny
    const stepName = isOfSignal ? nameSignalWait(name) : name
    const known = steps.claim(stepName)
    if (name.length > MAX_WAIT_NAME)
      throw new RangeError(`The name of a wait may have at most ${MAX_WAIT_NAME} characters.`)
    if (known !== undefined) return JSON.parse(known)
    return ask((id) => ({ type: 'wait', id, name: stepName, wait: call }))
  }

  function ask(toMessage: (id: number) => ThreadMessage): Promise<unknown> {
    const id = nextId()
    return new Promise((resolve) => {
      if (isOver) return
      waiting.set(id, { isOpen: false, end: (json) => resolve(JSON.parse(json)) })
      post(toMessage(id))
    })
  }

  /** The n-th wait for the same signal has a step of its own. */
  function nameSignalWait(name: string): string {
    const count = (signalWaits.get(name) ?? 0) + 1
    signalWaits.set(name, count)
    return count === 1 ? name : `${name} (${count})`
  }

  /** No wait: the run is not suspended until it has the URL. */
  async function callbackUrl(name: string): Promise<unknown> {
    checkSignal(name)
    if (publicUrl !== undefined) return ask((id) => ({ type: 'callback', id, name }))
    throw new Error(
      'Callbacks need the public URL of the service: the setting publicUrl, or PUBLIC_URL of npm start.',
    )
  }

  return {
    suspended,
    suspendIfIdle,
    /** The steps of the run, which share their names with the waits. */
    use(opened: typeof steps): void {
      steps = opened
    },
    end(id: number, json: string): void {
      const ended = waiting.get(id)
      waiting.delete(id)
      ended?.end(json)
      suspendIfIdle()
    },
    open(id: number): void {
      const opened = waiting.get(id)
      if (opened) opened.isOpen = true
      suspendIfIdle()
    },
    /** The pause before another attempt at a step, as a wait that the worker knows. Null: it does not end. */
    hold(id: number, delayMs: number | null): Promise<void> {
      return new Promise((resolve) => {
        if (isOver) return
        const end = () => {
          waiting.delete(id)
          resolve()
        }
        waiting.set(id, { isOpen: true, end })
        if (delayMs === null) return
        const timer = startTimer(() => {
          timers.delete(timer)
          end()
        }, delayMs)
        timers.add(timer)
      })
    },
    close(): void {
      isOver = true
      waiting.clear()
      stopTimers()
    },
    /** What the agent calls. */
    context: {
      callbackUrl,
      sleep: (name: string, seconds: number) =>
        wait(name, () => ({ kind: 'sleep', seconds: checkSeconds(seconds) })),
      sleepUntil: (name: string, date: Date | string | number) =>
        wait(name, () => ({ kind: 'sleep', until: checkDate(date) })),
      waitForSignal: (name: string, { timeoutSeconds, schema }: Timeout & { schema?: object } = {}) =>
        wait(name, () => ({
          kind: 'signal',
          signals: [checkSignal(name)],
          isAny: false,
          timeoutSeconds: checkTimeout(timeoutSeconds),
          ...(schema !== undefined && { schema: checkSchema(schema) }),
        })),
      waitForAny: (name: string, { signals, timeoutSeconds }: Timeout & { signals: string[] }) =>
        wait(name, () => ({
          kind: 'signal',
          signals: checkSignals(signals),
          isAny: true,
          timeoutSeconds: checkTimeout(timeoutSeconds),
        })),
      waitForApproval: (
        name: string,
        { title, data, timeoutSeconds }: Timeout & { title: string; data?: unknown },
      ) =>
        wait(name, () => ({
          kind: 'approval',
          title: checkTitle(title),
          dataJson: serializeData(data ?? null),
          timeoutSeconds: checkTimeout(timeoutSeconds),
        })),
    },
  }
}

/** A time that has passed is over: what an agent computes from the clock is negative when it runs again. */
function checkSeconds(seconds: unknown): number {
  if (typeof seconds === 'number' && seconds <= MAX_SECONDS) return Math.max(seconds, 0)
  throw new RangeError(`The time to wait must be a number of at most ${MAX_SECONDS} seconds.`)
}

const checkTimeout = (seconds: unknown): number | null =>
  seconds === undefined || seconds === null ? null : checkSeconds(seconds)

function checkDate(date: Date | string | number): string {
  const ms = new Date(date).getTime()
  if (Number.isNaN(ms)) throw new TypeError('The time to sleep until must be a date.')
  return new Date(ms).toISOString()
}

function checkSignal(name: unknown): string {
  if (isSignalName(name)) return name
  throw new TypeError(SIGNAL_NAME_RULE)
}

function checkSignals(names: unknown): string[] {
  if (Array.isArray(names) && names.length > 0 && names.length <= MAX_NAMES)
    return [...new Set(names.map(checkSignal))]
  throw new TypeError(`signals must be a list of 1 to ${MAX_NAMES} names.`)
}

function checkSchema(schema: unknown): { [keyword: string]: unknown } {
  if (typeof schema === 'object' && schema !== null && !Array.isArray(schema))
    return JSON.parse(serializeData(schema))
  throw new TypeError('schema must be a JSON Schema.')
}

function checkTitle(title: unknown): string {
  if (typeof title === 'string' && title !== '' && title.length <= MAX_TITLE) return title.toWellFormed()
  throw new TypeError(`title must be a text of 1 to ${MAX_TITLE} characters.`)
}
