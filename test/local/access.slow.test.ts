import { chmodSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { createDataFolder } from '../../local/data-folder.ts'
import type { Service } from '../support/service/start-service.ts'
import { temporaryServices } from '../support/service/temporary-services.ts'
import { expectOnlyGateway, startRunner } from './only-gateway.ts'

const services = temporaryServices()

// Reads the sockets from /proc.
const itOnLinux = it.runIf(process.platform === 'linux')

describe('npm start', () => {
  const folder = services.newFolder()
  let service: Service
  beforeAll(async () => {
    chmodSync(folder, 0o755)
    service = await services.start(folder, { HOST: '127.0.0.1' })
    await startRunner(service, folder)
  })

  itOnLinux('HOST 127.0.0.1: nothing but the gateway listens on a port', () => {
    expectOnlyGateway(service, true)
  })

  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

  it('has its data in a folder that only its owner can open, also one of an earlier start', () => {
    expect(modeOf(folder)).toBe('700')
    expect(modeOf(join(folder, 'store.lock'))).toBe('600')
    expect(modeOf(join(folder, 'dev-token'))).toBe('600')
  })

  it('leaves a folder with files of others as it is', async () => {
    const shared = services.newFolder()
    writeFileSync(join(shared, 'file'), '')
    chmodSync(shared, 0o755)
    await createDataFolder(shared)
    expect(modeOf(shared)).toBe('755')
  })

  const SIGNATURE =
    'AWS4-HMAC-SHA256 Credential=local/20261123/local/dynamodb/aws4_request, SignedHeaders=host, Signature=00'

  it.each([
    ['DynamoDB', 'DynamoDB_20120810.Scan', { TableName: 'agent-execution-service' }],
    ['DynamoDB', 'DynamoDB_20120810.ListTables', {}],
    ['SQS', 'AmazonSQS.ListQueues', {}],
  ])('does not show its data to a page that forges a request to %s', async (_, target, body) => {
    const { hostname, port, host } = new URL(service.url)
    for (const Host of [host, 'localhost', 'evil.example', `evil.example:${port}`]) {
      const headers = {
        Host,
        Origin: 'https://evil.example',
        Authorization: SIGNATURE,
        'X-Amz-Target': target,
      }
      const [status, allowed, text] = await new Promise<(string | number | undefined)[]>((resolve, reject) =>
        request({
          hostname,
          port,
          method: 'POST',
          path: '/',
          headers: { ...headers, 'Content-Type': 'text/plain' },
        })
          .once('response', async (response) =>
            resolve([
              response.statusCode,
              response.headers['access-control-allow-origin'],
              await readText(response),
            ]),
          )
          .once('error', reject)
          .end(JSON.stringify(body)),
      )
      expect([status, allowed]).toEqual([expect.toBeOneOf([401, 403, 404, 405]), undefined])
      expect(JSON.parse(String(text))).toMatchObject({ code: expect.any(String) })
    }
  })
})
