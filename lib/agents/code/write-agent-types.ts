import { toTypes } from '../../schema/types/to-types.ts'
import { writeTypeScript } from '../../schema/types/write-typescript.ts'
import type { AgentDocument } from '../document/document.ts'

/** Next to `agent.md`; `agent.ts` imports its types from it. */
export const TYPES_FILE = 'agent.types.ts'

const HEADER = '// Generated from agent.md by "agents check" and "agents publish". Do not edit.'

/** Names of declarations below, which types of the schemas must not take. */
const OWN_NAMES = ['Context', 'Run']

/** What `lib/engine/code-agent/thread/entry.ts` passes to an agent. */
const CONTEXT = `/** The second argument of \`run\`. */
export type Context = {
  executionId: string
  tenantId: string | null
  /** Aborts when the run is cancelled, loses its lease or runs out of time. */
  signal: AbortSignal
  /** Runs \`fn\` once per name, even if the run resumes in another worker. The result is stored as JSON. */
  step: <T>(name: string, fn: () => T | Promise<T>) => Promise<T>
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
export function writeAgentTypes({ input, output }: Pick<AgentDocument, 'input' | 'output'>): string {
  const taken = new Set(OWN_NAMES)
  const declarations = [
    ...toTypes(input, { name: 'Input', taken, withDefaults: true }),
    ...toTypes(output, { name: 'Output', taken }),
  ]
  return `${HEADER}\n\n${writeTypeScript(declarations)}\n${CONTEXT}`
}
