import type { TrialItemRecord } from '../../lib/contract/records/trial.ts'

type Difference = TrialItemRecord['differences'][number]

/** A field of outputs, with the number of runs in which it differs, and the first of its differences. */
export type ChangedField = { path: string; runs: number; example: Difference }

/** Which fields differ in how many runs, the most frequent first. Items of lists are one field: `/items/…/sku`. */
export function summarizeFields(items: TrialItemRecord[]): ChangedField[] {
  const fields = new Map<string, ChangedField>()
  for (const { differences } of items) {
    const inRun = new Map(differences.map((each) => [each.path.replace(/\/\d+(?=\/|$)/g, '/…'), each]))
    for (const [path, example] of inRun) {
      const known = fields.get(path)
      fields.set(path, known ? { ...known, runs: known.runs + 1 } : { path, runs: 1, example })
    }
  }
  return [...fields.values()].sort((a, b) => b.runs - a.runs)
}
