import { toTypes } from '../../schema/types/to-types.ts'
import { writeTypeScript } from '../../schema/types/write-typescript.ts'
import type { AgentDocument } from '../document/document.ts'

/** Next to `agent.md`; `agent.ts` imports its types from it. */
export const TYPES_FILE = 'agent.types.ts'

const HEADER =
  '// Generated from agent.md by "agent-execution check" and "agent-execution publish". Do not edit.'

/** What `Input` promises. */
const STRICT = '// Input matches the schema, unless a call says enforceInputSchema=false.'
const LENIENT =
  '// Input may not match the schema: set execution.enforceInputSchema in agent.md to reject such input.'

/** Names of declarations below, which types of the schemas must not take. */
const OWN_NAMES = ['Context', 'Log', 'Run']

/** What `lib/engine/code-agent/thread/entry.ts` passes to an agent. */
const CONTEXT = `type Log = (...values: unknown[]) => void

/** The second argument of \`run\`. */
export type Context = {
  executionId: string
  tenantId: string | null
  /** Aborts when the run is cancelled, loses its lease or runs out of time. */
  signal: AbortSignal
  /**
   * Runs \`fn\` once per name, even if the run resumes in another worker. The result is stored as JSON. With options,
   * a failed attempt is repeated up to \`retries\` (0 to 10) times, \`backoff\` seconds later (1), which double up to
   * 300, unless \`retryIf\` says no. \`timeoutSeconds\` limits each attempt.
   */
  step: {
    <T>(name: string, fn: (call: { signal: AbortSignal; attempt: number }) => T | Promise<T>): Promise<T>
    <T>(
      name: string,
      options: {
        retries?: number
        backoff?: number
        timeoutSeconds?: number
        retryIf?: (error: unknown) => boolean | Promise<boolean>
      },
      fn: (call: { signal: AbortSignal; attempt: number }) => T | Promise<T>,
    ): Promise<T>
  }
  /** Runs another agent once per name, and returns its output. Its error is thrown with its \`code\`. */
  run: <T = Record<string, unknown>>(name: string, slug: string, input: object) => Promise<T>
  /** \`fetch\` in the trace of the run, to public addresses over HTTPS and to \`execution.allowedHosts\`. */
  fetch: typeof fetch
  /** Prints to the log of the execution, with a level. */
  log: Log & { debug: Log; info: Log; warn: Log; error: Log }
  /** Waits without a worker. The code outside of steps runs again afterwards. Each wait has a name of its own. */
  sleep: (name: string, seconds: number) => Promise<null>
  sleepUntil: (name: string, date: Date | string | number) => Promise<null>
  /** The data of the next signal of this name, each time that it is called; null after the timeout. */
  waitForSignal: <T = unknown>(
    name: string,
    options?: { timeoutSeconds?: number; schema?: object },
  ) => Promise<T | null>
  waitForAny: <T = unknown>(
    name: string,
    options: { signals: string[]; timeoutSeconds?: number },
  ) => Promise<{ signal: string; data: T } | null>
  /** A URL by which another system sends this signal to the run, without a token. A secret until the run ends. */
  callbackUrl: (name: string) => Promise<string>
  /** \`data\`: as it was given, or as the approver edited it. */
  waitForApproval: <T = unknown>(
    name: string,
    options: { title: string; data?: T; timeoutSeconds?: number },
  ) => Promise<{ decision: 'approve' | 'reject' | 'timeout'; data: T; note: string | null; by: string | null }>
}

/** The function that \`agent.ts\` exports as its default. */
export type Run = (input: Input, context: Context) => Output | Promise<Output>
`

/** The types of a model agent's document, for its callers: fields that have a default are optional in the input. */
export function writeCallerTypes({ input, output }: Pick<AgentDocument, 'input' | 'output'>): string {
  const taken = new Set<string>()
  const declarations = [
    ...toTypes(input, { name: 'Input', taken }),
    ...toTypes(output, { name: 'Output', taken }),
  ]
  return `${HEADER}\n\n${writeTypeScript(declarations)}`
}

/**
 * The TypeScript module with the types of a code agent's document. The input is as the agent receives it: fields that
 * have a default are present.
 */
export function writeAgentTypes({
  input,
  output,
  execution,
}: Pick<AgentDocument, 'input' | 'output' | 'execution'>): string {
  const taken = new Set(OWN_NAMES)
  const declarations = [
    ...toTypes(input, { name: 'Input', taken, withDefaults: true }),
    ...toTypes(output, { name: 'Output', taken }),
  ]
  const promise = execution.enforceInputSchema ? STRICT : LENIENT
  return `${HEADER}\n${promise}\n\n${writeTypeScript(declarations)}\n${CONTEXT}`
}
