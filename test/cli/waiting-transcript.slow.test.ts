import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Service, startService } from '../support/service/start-service.ts'
import { newCli } from './cli.ts'

const MAIN = fileURLToPath(new URL('../../cli/main.mjs', import.meta.url))

const run = promisify(execFile)
const cli = newCli('.local')
let service: Service
beforeAll(async () => {
  service = await startService({ dataDir: cli.dataDir })
})
afterAll(async () => {
  await service?.stop()
  cli.remove()
})

const page = readFileSync(fileURLToPath(new URL('waiting-transcript.md', import.meta.url)), 'utf8')
const [document = '', code = '', transcript = ''] = [...page.matchAll(/^```\w+\n(.*?)^```$/gms)].map(
  ([, text]) => text ?? '',
)

/** A text with `…` for what differs from run to run. */
function patternOf(text: string): RegExp {
  const parts = text.trimEnd().split('…')
  return new RegExp(`^${parts.map((part) => part.replaceAll(/[^\w\s"]/g, '\\$&')).join('[\\s\\S]*?')}\n?$`)
}

it('a run that waits for an approval ends in SUCCESS, on a fresh service and at once', async () => {
  cli.write({ 'agents/refund/agent.md': document, 'agents/refund/agent.ts': code })
  const variables: Record<string, string> = {
    URL: `${service.url}/v1`,
    AUTH: `Authorization: Bearer ${readFileSync(join(cli.dataDir, 'dev-token'), 'utf8').trim()}`,
    JSON: 'Content-Type: application/json',
    DATA_DIR: cli.dataDir,
  }
  const steps = [...transcript.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)]
  expect(steps).toHaveLength(5)
  for (const [, text = '', expected = ''] of steps) {
    const command = text.replace('npx agent-execution ', `${process.execPath} ${MAIN} `)
    const env = { ...process.env, ...variables }
    const { stdout } = await run('bash', ['-c', command], { cwd: cli.folder, env })
    expect(stdout).toMatch(patternOf(expected))
    variables.EXECUTION ??= /^\{"id":"([^"]+)"/.exec(stdout)?.[1] ?? (undefined as never)
    variables.APPROVAL ??= / ([0-9a-f]{32}) /.exec(stdout)?.[1] ?? (undefined as never)
  }
})
