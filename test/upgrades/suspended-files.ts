import { readFileSync, writeFileSync } from 'node:fs'
import { fromLine, type StoredItem, toLine } from './baseline-files.ts'

/** What a test needs to know of a table with suspended executions. Times are milliseconds since the epoch. */
export type SuspendedManifest = {
  /** The one that wrote the table. */
  commit: string
  exportedAt: number
  organizationId: string
  /** By what they wait for. `before`: the value of the step that they have stored. */
  executions: Record<'approval' | 'signal' | 'sleep', { id: string; before: number }>
}

const file = (name: string) => new URL(`../fixtures/suspended/${name}`, import.meta.url)

export const readSuspended = (): { manifest: SuspendedManifest; items: StoredItem[] } => ({
  manifest: JSON.parse(readFileSync(file('manifest.json'), 'utf8')),
  items: readFileSync(file('table.jsonl'), 'utf8').trim().split('\n').map(fromLine),
})

export function writeSuspended(manifest: SuspendedManifest, items: StoredItem[]): void {
  writeFileSync(file('manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(file('table.jsonl'), items.map(toLine).sort().join(''))
}
