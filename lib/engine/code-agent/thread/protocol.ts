import type { WaitCall } from '../../../core/wait.ts'

/** What a thread is started with. */
export type ThreadData = {
  /** When the thread began its present run, and for how long its event loop had been idle. */
  began: Float64Array
  memoryMb: number
  /** Connections, DNS and child processes end the run. */
  isIsolated: boolean
}

/** One run, as sent to an agent thread. JSON travels as text: it is copied once, and keeps its digits. */
export type ThreadTask = {
  code: CodeFile
  input: string
  executionId: string
  tenantId: string | null
  /** Of the URLs of callbacks. Absent if the service has none. */
  publicUrl?: string | undefined
  /** Where `context.fetch` may connect to beside public addresses, and the trace that its requests belong to. */
  allowedHosts?: string[] | undefined
  traceparent?: string
  /** Results of the steps and waits that earlier attempts stored, by name. */
  storedSteps: [name: string, json: string][]
}

/** A bundled module, and the SHA-256 of its content in hex; null if it need not be verified. */
export type CodeFile = { url: string; sha256: string | null }

export type ThreadError = {
  message: string
  stack: string | null
  /** Of the execution's error; default: `AgentFailed`. */
  code?: string
}

/** What an attempt at a step threw. `code` is the error's own. */
export type StepFailure = { message: string; stack: string | null; name: string; code?: string }

/** From the thread to the worker. */
export type ThreadMessage =
  /** The agent is about to compute a step, or has waited to do so again. The thread waits for a `StepAnswer`. */
  | { type: 'step'; id: number; name: string; retries: number }
  /** An attempt failed. `backoff`: the seconds until the next one; null for none. The same answers follow. */
  | {
      type: 'step-failed'
      id: number
      name: string
      failure: StepFailure
      backoff: number | null
      retries: number
      startedAt: number
    }
  /** The step's result; the thread waits for `step-stored`. */
  | { type: 'step-result'; id: number; name: string; json: string; startedAt: number }
  /**
   * The agent runs another one, with this input, and gets a part of its budget. `parts`: of what is left. The thread
   * waits for a `StepAnswer` without attempts.
   */
  | { type: 'run'; id: number; name: string; slug: string; json: string; parts: number }
  /** The agent waits; the worker answers with `wait-ended` or `wait-open`. */
  | { type: 'wait'; id: number; name: string; wait: WaitCall }
  /** The agent asks for the URL of a callback; the worker answers with `wait-ended`. */
  | { type: 'callback'; id: number; name: string }
  /** `isCut`: what was printed before the text is missing. */
  | { type: 'log'; text: string; isCut: boolean }
  /** The run has ended. The thread then checks what the run left behind. */
  | { type: 'result'; result: RunResult }
  /** An exception outside of the run's own promise, or `process.exit`: the thread has to be terminated. */
  | { type: 'crashed'; error: ThreadError }

/** From the thread to the worker, about itself. */
export type ThreadState =
  | { type: 'started' }
  /** After a run. `isClean`: it left nothing behind, so the thread can be used again; `bytes`: heap and buffers. */
  | { type: 'free'; isClean: boolean; bytes: number }
  /** A child process of the agent has started or ended. A negative id is that of its process group. */
  | { type: 'child'; pid: number; isRunning: boolean }

/** How a step goes on. */
export type StepAnswer =
  /** `attempt`: the number of the next one at this step, from 1. */
  | { type: 'begin-step'; attempt: number }
  /** The step is not computed: this is its result, which is stored. */
  | { type: 'step-recorded'; json: string }
  | { type: 'step-threw'; failure: Omit<StepFailure, 'stack'> }
  /** Until the next attempt. Null: there is none in this run. `suspends`: unless something else goes on until then. */
  | { type: 'step-waits'; delayMs: number | null; suspends: boolean }
  | { type: 'step-stored' }

/** From the worker to the thread. */
export type WorkerMessage =
  | { type: 'run'; task: ThreadTask }
  | ({ id: number } & StepAnswer)
  | { type: 'wait-ended'; id: number; json: string }
  | { type: 'wait-open'; id: number }
  | { type: 'abort' }

/** How a run ended. */
export type RunResult =
  | { type: 'returned'; json: string }
  /** The agent does nothing but wait. */
  | { type: 'suspended' }
  /** The value cannot be an output; `code` and `message` are those of the execution's error. */
  | { type: 'invalid'; code: 'OutputSchemaMismatch' | 'OutputTooLarge'; message: string }
  | { type: 'failed'; error: ThreadError }
  /** The file is missing or has other content. Nothing of it was loaded. */
  | { type: 'code-changed' }

/**
 * What buffers may take beyond the limit during a run. V8 collects them when they have grown by 64 to 128 MB since it
 * last did, and frees them in the background: on a busy machine, those of two collections are there at once.
 */
export const GARBAGE_BYTES = 256 * 2 ** 20

export const memoryExceeded = (memoryMb: number): string =>
  `The agent exceeded its memory limit of ${memoryMb} MB.`

/** Characters of an error's message. Far more than the worker keeps, after it has masked the secrets in it. */
export const MAX_TEXT = 64_000
