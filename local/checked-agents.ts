import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { LoadedAgent } from '../lib/agents/load-folder.ts'
import { tryParseJson } from '../lib/core/json/json.ts'

/** An agent that can be published, and what it was checked and bundled from. */
export type Checked = { agent: LoadedAgent; sources: string[]; sourceHash: string }

/** By the path of the agent's folder, which its bundle contains. */
const fileOf = (cache: string, folder: string): string =>
  join(cache, 'agents', `${createHash('sha256').update(folder).digest('hex')}.json`)

/** What was checked last; null if nothing was, or the file is invalid. */
export async function readChecked(cache: string, folder: string): Promise<Checked | null> {
  const text = await readFile(fileOf(cache, folder), 'utf8').catch(() => '')
  const checked = tryParseJson(text) as Partial<Checked> | null | undefined
  return checked?.agent && checked.sources && checked.sourceHash ? (checked as Checked) : null
}

/** Best effort. Whether an agent with variables loads depends on their values: it is checked again. */
export async function writeChecked(cache: string, folder: string, checked: Checked): Promise<void> {
  if (checked.agent.document.env.length > 0) return
  const file = fileOf(cache, folder)
  const written = `${file}.${process.pid}`
  try {
    await mkdir(join(cache, 'agents'), { recursive: true, mode: 0o700 })
    await writeFile(written, JSON.stringify(checked), { mode: 0o600 })
    await rename(written, file)
  } catch {
    // The next start checks it again.
  }
}
