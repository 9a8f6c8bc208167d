import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Findings } from '../run-proof.ts'
import type { Service } from './load.ts'
import { ECHO } from './prepare.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

type Report = {
  failed: number
  results: { method: string; path: string; expected: number; status: number | null; detail: string }[]
}

/** `npm run smoke`: every route with and without a trailing slash. */
export async function checkSmoke({ baseUrl, token }: Service, signal: AbortSignal): Promise<Findings> {
  const options = ['--agent', ECHO, '--input', '{"text":"smoke"}', '--json']
  const child = spawn(process.execPath, ['cli/smoke.ts', baseUrl, token, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
  })
  let output = ''
  child.stdout.on('data', (chunk) => {
    output += chunk
  })
  await once(child, 'close')
  const { results } = JSON.parse(output) as Report
  const problems = results
    .filter(({ status, expected }) => status !== expected)
    .map(
      ({ method, path, status, expected, detail }) =>
        `${method} ${path}: ${status} instead of ${expected}. ${detail}`,
    )
  return { problems, figures: { requests: results.length } }
}
