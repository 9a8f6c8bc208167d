import { resolveVersionOf } from '../../agents/resolve-version.ts'
import type { Version } from '../../core/agent.ts'
import type { ServedDeclarations } from '../../core/model.ts'
import type { DeclarationStore } from '../../core/ports/caches.ts'
import { INTERVAL_MS } from '../../core/usage.ts'
import { describeCause, logger } from '../../logger.ts'
import type { McpDocument, ToolDocument } from '../../tools/document/tool-fields.ts'
import type { Engine } from '../engine.ts'
import { hash } from '../request-key.ts'
import type { RecordedRun } from './recorded-run.ts'

/** More than an organization has in use; then they are written again. */
const MAX_KNOWN = 1_000

/** On which day this process wrote which declarations. */
const written = new WeakMap<DeclarationStore, Map<string, { day: number; writing: Promise<void> }>>()

/**
 * Keeps declarations of MCP tools for replays. Each process writes them once a day. A run does without it: should the
 * write fail, the next run repeats it.
 * @returns their hash; absent if there are none
 */
export async function keepDeclarations(
  { declarations: store, system }: Pick<Engine, 'declarations' | 'system'>,
  organizationId: string,
  declarations: ServedDeclarations | undefined,
): Promise<string | undefined> {
  if (!store || !declarations) return undefined
  const key = { organizationId, hash: hash(declarations) }
  const now = system.now()
  const day = Math.floor(now / INTERVAL_MS.day)
  const known = written.get(store) ?? new Map()
  written.set(store, known)
  const id = `${organizationId} ${key.hash}`
  if (known.get(id)?.day !== day) {
    if (known.size >= MAX_KNOWN) known.clear()
    const writing = store.put({ ...key, declarations, now }).catch((error: unknown) => {
      known.delete(id)
      logger.warn('Could not store the declarations of MCP tools.', { cause: describeCause(error) })
    })
    known.set(id, { day, writing })
  }
  await known.get(id)?.writing
  return key.hash
}

/**
 * The declarations of MCP tools in the original of a replay, for the version that runs: those of tools whose calls are
 * recorded, and whose document names the same server and tools. Any other tool asks its server.
 */
export async function recordedDeclarations(
  { agents, declarations: store }: Pick<Engine, 'agents' | 'declarations'>,
  original: Pick<RecordedRun, 'declarations' | 'execution' | 'isLive'>,
  version: Pick<Version, 'tools'>,
): Promise<ServedDeclarations> {
  const { declarations, execution } = original
  if (!store || !declarations) return {}
  const documents = version.tools as ToolDocument[]
  const [then, served] = await Promise.all([
    resolveVersionOf(agents, execution),
    store.get({ organizationId: execution.organizationId, hash: declarations }),
  ])
  const earlier = (then?.tools ?? []) as ToolDocument[]
  const isUnchanged = (tool: ToolDocument) => {
    const before = earlier.find(({ name }) => name === tool.name)
    return (
      tool.mcp &&
      before?.mcp &&
      !original.isLive(tool) &&
      hash(serverOf(tool.mcp)) === hash(serverOf(before.mcp))
    )
  }
  return Object.fromEntries(
    Object.entries(served ?? {}).filter(([name]) =>
      documents.some((document) => document.name === name && isUnchanged(document)),
    ),
  )
}

const serverOf = ({ url, tools }: McpDocument) => ({ url, ...(tools && { tools }) })
