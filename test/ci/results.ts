import { appendFileSync, existsSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * Names the file to which checks append their results, one per line: `passed` or `failed`, a tab, and the identity of
 * the test or check. `.ci/run` sets it, and counts every identity once.
 */
export const CI_RESULTS = 'CI_RESULTS'

const REPORTER = fileURLToPath(new URL('results-reporter.ts', import.meta.url))

export type Ending = 'passed' | 'failed'

export function recordResult(ending: Ending, identity: string): void {
  const file = process.env[CI_RESULTS]
  if (file) appendFileSync(file, `${ending}\t${identity.replaceAll(/\s+/g, ' ')}\n`)
}

/** How many bytes of results there are. */
export function sizeOfResults(): number {
  const file = process.env[CI_RESULTS]
  return file && existsSync(file) ? statSync(file).size : 0
}

/** The reporters of a run of vitest: the given one, and one that records the results if somebody counts them. */
export function reportersWith(reporter: string): string[] {
  if (!process.env[CI_RESULTS]) return [reporter]
  return [reporter, REPORTER, ...(process.env.GITHUB_ACTIONS ? ['github-actions'] : [])]
}
