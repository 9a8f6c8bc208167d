import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Names the file to which checks append their results, one per line: `passed` or `failed`, a tab, and the identity of
 * the test or check. `.ci/run` sets it, and counts every identity once. Lines of `file` have its seconds in between.
 */
export const CI_RESULTS = 'CI_RESULTS'

const REPORTER = fileURLToPath(new URL('results-reporter.ts', import.meta.url))

export type Ending = 'passed' | 'failed'

export type Result = { kind: Ending | 'file'; identity: string; seconds: number }

export function recordResult(ending: Ending, identity: string): void {
  record(ending, identity)
}

/** How long a file of tests took. */
export function recordFile(path: string, seconds: number): void {
  record('file', seconds.toFixed(3), path)
}

function record(...columns: string[]): void {
  const file = process.env[CI_RESULTS]
  if (file) appendFileSync(file, `${columns.map((column) => column.replaceAll(/\s+/g, ' ')).join('\t')}\n`)
}

/** What was recorded so far, in order. A line that was not written to its end is left out. */
export function readResults(): Result[] {
  const file = process.env[CI_RESULTS]
  if (!file || !existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .slice(0, -1)
    .flatMap((line): Result[] => {
      const [kind, ...rest] = line.split('\t')
      if (kind === 'file') return [{ kind, identity: rest[1] ?? '', seconds: Number(rest[0]) }]
      return kind === 'passed' || kind === 'failed' ? [{ kind, identity: rest[0] ?? '', seconds: 0 }] : []
    })
}

/** The reporters of a run of vitest: the given one, and one that records the results if somebody counts them. */
export function reportersWith(reporter: string): string[] {
  if (!process.env[CI_RESULTS]) return [reporter]
  return [reporter, REPORTER, ...(process.env.GITHUB_ACTIONS ? ['github-actions'] : [])]
}
