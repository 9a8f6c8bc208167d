import { createServer } from 'node:http'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { findDynoxide } from '../../../local/emulators/start-emulators.ts'
import { closeServer, listen, urlOf } from '../../../local/gateway/listen.ts'
import { listeningSockets } from '../../support/processes/processes.ts'
import { createLocalClient, waitForExecution } from '../../support/service/client.ts'
import { startDynamoDB } from '../../support/service/port-emulators.ts'
import type { Service } from '../../support/service/start-service.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'

const services = temporaryServices()
const folder = services.newFolder()
const pageServer = createServer((_, response) => {
  response.setHeader('Content-Type', 'text/html').end('<title>Another origin</title>')
})
let service: Service
let browser: Browser
beforeAll(async () => {
  service = await services.start(folder)
  await listen(pageServer, '127.0.0.1', 0)
  browser = await chromium.connect(inject('browser'))
})
afterAll(async () => {
  await browser?.close()
  await closeServer(pageServer)
})

const REQUESTS = [
  { target: 'DynamoDB_20120810.Scan', body: { TableName: 'agent-execution-service' } },
  { target: 'DynamoDB_20120810.ListTables', body: {} },
  { target: 'AmazonSQS.ListQueues', body: {} },
]

const SIGNATURE =
  'AWS4-HMAC-SHA256 Credential=a/20261123/local/dynamodb/aws4_request, SignedHeaders=host, Signature=00'

/** Runs in the page: tries each request as a script may send it, with and without what makes the browser ask first. */
const ATTACK = `async ({ ports, requests }) => {
  const read = []
  for (const port of ports) {
    for (const { target, body } of requests) {
      const type = { 'Content-Type': target.startsWith('Dynamo') ? 'application/x-amz-json-1.0' : 'application/json' }
      for (const headers of [{ ...type, 'X-Amz-Target': target, 'X-Amz-Date': '20261123T000000Z', Authorization: '${SIGNATURE}' }, {}]) {
        const response = await fetch('http://127.0.0.1:' + port + '/', {
          method: 'POST', headers, body: JSON.stringify(body),
        }).catch(() => null)
        if (response) read.push([port, target, response.status, await response.text()])
      }
    }
  }
  return read
}`

// The sockets are read from /proc.
it.runIf(process.platform === 'linux' && findDynoxide())(
  'a page of another origin reads nothing from any port of npm start',
  async () => {
    const call = createLocalClient(service.url, folder)
    const { json } = await call('POST', '/v1/agents/wait/executions?execMode=async', { body: { seconds: 0 } })
    await waitForExecution(call, json.id)
    const ports = listeningSockets(service.pid).map(({ port }) => port)
    expect(ports).toContain(Number(new URL(service.url).port))
    const page = await browser.newPage()
    // "localhost" is another origin than "127.0.0.1", and one that no protection of private networks applies to.
    await page.goto(urlOf(pageServer, '127.0.0.1').replace('127.0.0.1', 'localhost'))
    expect(await page.title()).toBe('Another origin')
    const attack = (targets: number[]) =>
      page.evaluate(`(${ATTACK})(${JSON.stringify({ ports: targets, requests: REQUESTS })})`)
    expect(await attack(ports)).toEqual([])
    // The same database on a port.
    const open = await startDynamoDB(null)
    const answers = await attack([Number(new URL(open.endpoint).port)])
    await open.stop()
    expect(answers).toContainEqual(
      expect.arrayContaining(['DynamoDB_20120810.ListTables', 200, '{"TableNames":[]}']),
    )
    await page.close()
  },
)
