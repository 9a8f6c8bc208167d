import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { DYNAMODB_ENDPOINT, SQS_ENDPOINT } from '../../../lib/environment.ts'
import { LOCAL_TABLE, provisionTable } from '../../../local/emulators/provision.ts'
import { startDynalite, startDynamoDB } from './port-emulators.ts'
import { startService } from './start-service.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Endpoint of the DynamoDB of the tests and the shared service: the embedded one, or `DYNAMODB_ENDPOINT`. */
    dynamodb: string
    /** Endpoint of dynalite, for the suites that run on both emulators. */
    dynalite: string
    /** URL of the service that all HTTP tests share, each with its own organization. */
    service: string
  }
}

/** Shorter than the default of 60 s: a cancelled run stops within a sixth of it, and lost runs are swept sooner. */
const LEASE_SECONDS = '15'

export default async function setup(project: TestProject) {
  const endpoint = process.env[DYNAMODB_ENDPOINT]
  const dataDir = mkdtempSync(join(tmpdir(), 'aes-test-'))
  const [dynamodb, dynalite] = await Promise.all([
    endpoint ? { endpoint, stop: async () => undefined } : startDynamoDB(null),
    startDynalite(null),
  ])
  await Promise.all([dynamodb, dynalite].map((emulator) => provisionTable(emulator.endpoint, LOCAL_TABLE)))
  const stopEmulators = async () => {
    await Promise.all([dynamodb.stop(), dynalite.stop()])
    rmSync(dataDir, { recursive: true, force: true })
  }
  const sqs = process.env[SQS_ENDPOINT]
  const environment = {
    LEASE_SECONDS,
    [DYNAMODB_ENDPOINT]: dynamodb.endpoint,
    ...(sqs && { [SQS_ENDPOINT]: sqs }),
  }
  const service = await startService({ dataDir, environment }).catch(async (error: unknown) => {
    await stopEmulators()
    throw error
  })
  project.provide('dynamodb', dynamodb.endpoint)
  project.provide('dynalite', dynalite.endpoint)
  project.provide('service', service.url)
  return async () => {
    await service.stop()
    await stopEmulators()
  }
}
