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
    const chain: Error[] = []
    const message = explain(error, chain).slice(0, MAX_TEXT)
    const stack = chain.map(framesIn).join('\n').slice(0, MAX_TEXT)
    return error instanceof StepError ? { message, stack, code: error.code } : { message, stack }
  } catch {
    return { message: messageOf(error) ?? 'The agent threw a value that cannot be read.', stack: null }
  }
}

/** For an error whose other members throw when they are read. */
function messageOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? String(error.message).slice(0, MAX_TEXT) : undefined
  } catch {
    return undefined
  }
}

/** Codes of modules that `createRequire` or `import()` do not find. */
const MISSING = new Set<unknown>(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND'])
const BUNDLE_HINT =
  'An agent runs without the files beside it: use an import statement, so that publishing bundles the module.'

/** Causes of causes, and errors of one `AggregateError`, that a message names. */
const MAX_CAUSES = 5

/**
 * The message with those of its causes and of the errors that it aggregates: `fetch failed: connect ECONNREFUSED …`.
 * Without a message, an error is named by its class and code. `chain` gets the errors in this order.
 */
function explain(error: unknown, chain: Error[]): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : inspect(error, { depth: 1 })
  if (chain.includes(error)) return ''
  chain.push(error)
  const { name, code, cause, errors } = error as Error & { code?: unknown; errors?: unknown }
  const nested = Array.isArray(errors) ? errors : []
  const hidden = nested.length - MAX_CAUSES
  const isDeep = chain.length > MAX_CAUSES
  const parts = isDeep ? [] : nested.slice(0, MAX_CAUSES).map((each) => explain(each, chain))
  const aggregated = [...parts, ...(hidden > 0 ? [`${hidden} more`] : [])].filter(Boolean).join('; ')
  const reason = cause === undefined || isDeep ? '' : explain(cause, chain)
  const text = String(error.message).slice(0, MAX_TEXT)
  // Followed by the files that required it.
  const own = MISSING.has(code) ? `${text.split('\n', 1)[0]}. ${BUNDLE_HINT}` : text
  const known = [aggregated, reason].filter((text) => text && !own.includes(text))
  const title =
    own || (known.length > 0 ? '' : [name, code].filter((text) => typeof text === 'string').join(' '))
  return [title, ...known].filter(Boolean).join(': ')
}

/** Without the message, which may be of any length. */
const framesIn = ({ stack }: Error): string =>
  String(stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n')
    .slice(0, MAX_TEXT)

const MAX_NAME = 100
/** A name, as messages show it. */
export const shorten = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name
