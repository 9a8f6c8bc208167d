import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { LRUCache } from 'lru-cache'
import type { Version } from '../../core/agent.ts'
import type { AgentStore } from '../../core/ports/agents.ts'
import type { CodeFile } from './thread/protocol.ts'

const MAX_FILES = 200

const files = new LRUCache<string, Promise<CodeFile | null>>({
  max: MAX_FILES,
  dispose: (writing) => void writing.then(remove, () => undefined),
})
/** Private temporary folders, one for each version, removed at the latest when the process exits. */
const folders = new Set<string>()
process.once('exit', removeAll)

/** The file of a version's bundled module, read and written once per process; null if the version has no code. */
export function codeFileOf(store: AgentStore, { agentId, id }: Version): Promise<CodeFile | null> {
  const known = files.get(id)
  if (known) return known
  const writing = writeCode(store, agentId, id)
  files.set(id, writing)
  writing.catch(() => files.delete(id))
  return writing
}

/** Another file is written for the next run. */
export function forgetCodeFile({ id }: Version): void {
  files.delete(id)
}

async function writeCode(store: AgentStore, agentId: string, versionId: string): Promise<CodeFile | null> {
  const code = await store.getCode({ agentId, versionId })
  if (code === null) return null
  const folder = await mkdtemp(join(tmpdir(), `agent-code-${process.pid}-`))
  folders.add(folder)
  const file = join(folder, `${versionId}.mjs`)
  await writeFile(file, code, { mode: 0o400 })
  await chmod(folder, 0o500)
  return { url: pathToFileURL(file).href, sha256: createHash('sha256').update(code).digest('hex') }
}

async function remove(file: CodeFile | null): Promise<void> {
  if (!file) return
  const folder = dirname(fileURLToPath(file.url))
  folders.delete(folder)
  await chmod(folder, 0o700).catch(() => undefined)
  await rm(folder, { recursive: true, force: true }).catch(() => undefined)
}

function removeAll(): void {
  for (const folder of folders) {
    try {
      chmodSync(folder, 0o700)
      rmSync(folder, { recursive: true, force: true })
    } catch {
      // Another process has removed it.
    }
  }
}

/** The file of the version's code is not as this process wrote it. */
export class CodeChanged extends Error {}
