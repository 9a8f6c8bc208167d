/**
 * `npm run test:conformance`: runs the scenarios of the protocol's conformance suite that apply to a server with tools
 * of its own, on a local service. The suite's other scenarios call tools, prompts and resources of a reference server.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDevToken } from '../../support/service/client.ts'
import { startServer } from '../../support/service/start-server.ts'
import { startService } from '../../support/service/start-service.ts'

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12'

/** The scenarios that apply, each with the checks that fail because they need what the service does not have. */
const SCENARIOS: Record<string, string[]> = {
  'server-initialize': [],
  'server-stateless': [
    // Tools of the reference server.
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  ping: [],
  'tools-list': [],
  // Prompts and resources.
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
  'http-header-validation': [],
  'dns-rebinding-protection': [],
}

/** The suite sends no token, so that a proxy adds it. */
async function startProxy(url: string, token: string) {
  const target = new URL(url)
  return startServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming
    const options = { host: target.hostname, port: target.port, path, method }
    const forwarded = request(
      { ...options, headers: { ...headers, authorization: `Bearer ${token}` } },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers)
        response.pipe(outgoing)
      },
    )
    outgoing.once('close', () => forwarded.destroy())
    forwarded.once('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
}

type Check = { id: string; status: string }

/** The checks of a scenario. */
async function run(url: string, scenario: string): Promise<Check[]> {
  const output = join(folder, scenario)
  const options = ['server', '--url', url, '--scenario', scenario, '--output-dir', output]
  const suite = spawn('npx', ['--yes', SUITE, ...options], { stdio: 'ignore' })
  await once(suite, 'exit')
  const [file] = readdirSync(output, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('checks.json'),
  )
  if (!file) throw new Error(`The suite wrote no results of ${scenario}.`)
  return JSON.parse(readFileSync(join(output, file), 'utf8'))
}

const folder = mkdtempSync(join(tmpdir(), 'aes-conformance-'))
const dataDir = join(folder, 'data')
const service = await startService({ dataDir })
const proxy = await startProxy(service.url, readDevToken(dataDir))
let isAsExpected = true
for (const [scenario, expected] of Object.entries(SCENARIOS)) {
  const checks = await run(`${proxy.url.replace('127.0.0.1', 'localhost')}/v1/mcp`, scenario)
  const failed = checks.filter(({ status }) => status === 'FAILURE').map(({ id }) => id)
  const succeeded = checks.filter(({ status }) => status === 'SUCCESS').length
  isAsExpected &&= failed.every((id) => expected.includes(id)) && expected.every((id) => failed.includes(id))
  console.log(`${scenario}: ${succeeded} of ${checks.length} checks passed. ${failed.join(', ')}`)
}
await proxy.stop()
await service.stop()
rmSync(folder, { recursive: true })
process.exit(isAsExpected ? 0 : 1)
