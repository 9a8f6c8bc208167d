import type { Engine } from '../../lib/engine/engine.ts'
import type { ToolDocument } from '../../lib/tools/document/tool-fields.ts'

/** How an engine reaches models and tools. */
export type Sources = Required<Pick<Engine, 'openModel' | 'openTools'>>

/** The names of the tools that run other agents: these run in a replay, too. */
export const agentToolsOf = (documents: ToolDocument[]): Set<string> =>
  new Set(documents.flatMap(({ agent, name }) => (agent ? [name] : [])))
