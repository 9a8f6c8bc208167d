import { inspect } from 'node:util'
import { MAX_TEXT, type ThreadError } from './protocol.ts'

/** A step that ends the run, unless the agent catches it, with an error code of its own. */
export class StepError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

/** Whatever an agent may throw: also what throws when it is read. */
export function describe(error: unknown): ThreadError {
  try {
    if (!(error instanceof Error)) {
      const text = typeof error === 'string' ? error : inspect(error)
      return { message: text.slice(0, MAX_TEXT), stack: null }
    }
    const message = String(error.message).slice(0, MAX_TEXT)
    const stack = framesIn(error)
    return error instanceof StepError ? { message, stack, code: error.code } : { message, stack }
  } catch {
    return { message: 'The agent threw a value that cannot be read.', stack: null }
  }
}

/** Without the message, which may be of any length. */
const framesIn = ({ stack }: Error): string =>
  String(stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
    .slice(0, MAX_TEXT)
