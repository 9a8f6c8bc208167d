import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { DYNAMODB_ENDPOINT, SQS_ENDPOINT } from '../../lib/environment.ts'
import { LOCAL_TABLE, provisionTable } from '../../local/emulators/provision.ts'
import { startDynalite, startDynamoDB } from '../../local/emulators/start-emulators.ts'
import { startService } from './service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the DynamoDB that tests and the shared service use: the embedded one, or `DYNAMODB_ENDPOINT`. */
    dynamodb: string
    /** Of dynalite, for the suites that must hold on both. */
    dynalite: string
    /** Address of a service that all HTTP tests share, each with an organization of its own. */
    service: string
  }
}

export default async function setup(project: TestProject) {
  const given = process.env[DYNAMODB_ENDPOINT]
  const dataDir = mkdtempSync(join(tmpdir(), 'aes-test-'))
  const [dynamodb, dynalite] = await Promise.all([
    given ? { endpoint: given, stop: async () => undefined } : startDynamoDB(null),
    startDynalite(null),
  ])
  await Promise.all([dynamodb, dynalite].map(({ endpoint }) => provisionTable(endpoint, LOCAL_TABLE)))
  const stopAll = async () => {
    await Promise.all([dynamodb.stop(), dynalite.stop()])
    rmSync(dataDir, { recursive: true, force: true })
  }
  const queue = process.env[SQS_ENDPOINT]
  const environment = { [DYNAMODB_ENDPOINT]: dynamodb.endpoint, ...(queue && { [SQS_ENDPOINT]: queue }) }
  const service = await startService({ dataDir, environment }).catch(async (error: unknown) => {
    await stopAll()
    throw error
  })
  project.provide('dynamodb', dynamodb.endpoint)
  project.provide('dynalite', dynalite.endpoint)
  project.provide('service', service.url)
  return async () => {
    await service.stop()
    await stopAll()
  }
}
