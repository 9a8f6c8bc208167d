import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it } from 'vitest'
import { apiRoutes } from '../../lib/contract/routes.ts'
import { newOrganization } from '../support/engine/organization.ts'
import { startServer } from '../support/service/start-server.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

async function smoke(args: string[]) {
  const child = spawn(process.execPath, ['cli/smoke.ts', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  const [code] = await once(child, 'close')
  return { code, stdout }
}

describe('npm run smoke', () => {
  const ECHO = ['--agent', 'echo', '--input', '{"text":"x"}']

  it('calls every route with and without a trailing slash', async () => {
    const own = await newOrganization()
    await own.publish('echo')
    const { code, stdout } = await smoke([inject('service'), own.token, '--json', ...ECHO])
    const { failed, results } = JSON.parse(stdout)
    expect({ code, failed }).toEqual({ code: 0, failed: 0 })
    const called: string[] = results.map(
      ({ method, path }: { method: string; path: string }) => `${method} ${path.split('?')[0]}`,
    )
    for (const { method, path } of apiRoutes)
      for (const route of [path, `${path}/`]) {
        const pattern = new RegExp(`^${method} ${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
        expect(
          called.some((each) => pattern.test(each)),
          `${method} ${route}`,
        ).toBe(true)
      }
    for (const path of ['/', '/console', '/console/']) expect(called).toContain(`GET ${path}`)
    expect((await own.call('GET', '/v1/agent_executions?limit=100')).json.length).toBeLessThanOrEqual(5)
  })

  it('reports unexpected statuses and exits with code 1', async () => {
    const { url, stop } = await startServer(
      (_, response) => void response.writeHead(500).end('{"detail":"Service is broken."}'),
    )
    const { code, stdout } = await smoke([url, 'none', ...ECHO])
    await stop()
    expect(code).toBe(1)
    expect(stdout).toContain('expected 401. Service is broken.')
    expect(stdout).toMatch(/(\d+) requests, \1 failed\./)
  })
})
