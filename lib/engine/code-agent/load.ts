import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LRUCache } from 'lru-cache'
import type { Version } from '../../core/agent.ts'
import type { JsonObject } from '../../core/json.ts'
import type { AgentStore } from '../../core/ports.ts'
import type { StepFunction } from './steps.ts'

/** The second argument of a code agent's function. */
export type CodeAgentContext = {
  executionId: string
  tenantId: string | null
  /** Aborts when the run is cancelled, loses its lease, or exceeds its time limit. */
  signal: AbortSignal
  step: StepFunction
}

/** The default export of a code agent's module. */
export type CodeAgent = (input: JsonObject, context: CodeAgentContext) => unknown

/** The code cannot be loaded: an error of the agent, not of the store. */
export class CodeLoadError extends Error {}

const loaded = new LRUCache<string, Promise<CodeAgent>>({ max: 200 })
let directory: string | undefined

/**
 * The code of a version, read and imported once per process.
 * @throws CodeLoadError if the module throws on import or does not export a function
 */
export function loadCodeAgent(store: AgentStore, version: Version): Promise<CodeAgent> {
  const known = loaded.get(version.id)
  if (known) return known
  const loading = readCode(store, version)
  loaded.set(version.id, loading)
  loading.catch(() => loaded.delete(version.id))
  return loading
}

async function readCode(store: AgentStore, { agentId, id }: Version): Promise<CodeAgent> {
  const code = await store.getCode({ agentId, versionId: id })
  if (code === null) throw new CodeLoadError(`Version ${id} has no code.`)
  const file = join(temporaryDirectory(), `${id}.mjs`)
  await writeFile(file, code)
  return importCode(file)
}

async function importCode(file: string): Promise<CodeAgent> {
  const module: { default?: unknown } = await import(/* @vite-ignore */ pathToFileURL(file).href).catch(
    (cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw new CodeLoadError(`agent.ts cannot be loaded: ${reason}`, { cause })
    },
  )
  if (typeof module.default !== 'function')
    throw new CodeLoadError('agent.ts does not default-export a function.')
  return module.default as CodeAgent
}

/** A private temporary folder, removed when the process exits. */
function temporaryDirectory(): string {
  if (!directory) {
    const created = mkdtempSync(join(tmpdir(), 'agent-code-'))
    process.once('exit', () => rmSync(created, { recursive: true, force: true }))
    directory = created
  }
  return directory
}
