import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { LRUCache } from 'lru-cache'
import type { Version } from '../../core/agent.ts'
import type { AgentStore } from '../../core/ports.ts'

const files = new LRUCache<string, Promise<string | null>>({ max: 200 })
let directory: string | undefined

/** The file URL of a version's bundled module, read and written once per process; null if the version has no code. */
export function codeFileOf(store: AgentStore, { agentId, id }: Version): Promise<string | null> {
  const known = files.get(id)
  if (known) return known
  const writing = writeCode(store, agentId, id)
  files.set(id, writing)
  writing.catch(() => files.delete(id))
  return writing
}

async function writeCode(store: AgentStore, agentId: string, versionId: string): Promise<string | null> {
  const code = await store.getCode({ agentId, versionId })
  if (code === null) return null
  const file = join(temporaryDirectory(), `${versionId}.mjs`)
  await writeFile(file, code)
  return pathToFileURL(file).href
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
