import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { GRANTS, getAuditPrefix, getUpdatedPrefix } from '../../../infra/functions/grants.ts'
import { type Calls, startCallRecorder } from '../functions/call-recorder.ts'
import { synthesize } from '../synthesize.ts'
import { provisionStack } from './deploy-release.ts'
import { describeDeployedFunctions } from './deployed-functions.ts'

/** Where the app is synthesized, which bundles the functions. */
const outdir = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
const bundles = join(outdir, 'functions')
let recorder: Awaited<ReturnType<typeof startCallRecorder>>

describeDeployedFunctions(async () => {
  const env = { ...process.env, CDK_OUTDIR: outdir }
  const [stack] = await Promise.all([
    provisionStack(),
    promisify(execFile)(process.execPath, ['infra/app.ts'], { env }),
  ])
  const { DYNAMODB_ENDPOINT: dynamodb, SQS_ENDPOINT: sqs } = stack.endpoints
  recorder = await startCallRecorder({ dynamodb, sqs })
  const endpoints = new Map(
    await Promise.all(FUNCTION_NAMES.map(async (name) => [name, await recorder.endpointsOf(name)] as const)),
  )
  const deployment = stack.deploy({ bundles, template: synthesize({ httpPublishing: true }) })
  return {
    ...deployment,
    functionOf: (name) => {
      const { asset, environment } = deployment.functionOf(name)
      return { asset, environment: { ...environment, ...endpoints.get(name) } }
    },
    stop: async () => {
      await recorder.stop()
      await deployment.stop()
      rmSync(outdir, { recursive: true })
    },
  }
})

// In the night, `grants.test.ts` takes every path, and finds grants that no call needs, too.
it.each(FUNCTION_NAMES)('%s made no call without a grant', (name) => {
  const { table, indexes = [], queue = [], deliveryQueue = [] } = GRANTS[name]
  const [updated, audited] = [getUpdatedPrefix(name), getAuditPrefix(name)].map((prefix) =>
    [prefix ?? []].flat(),
  )
  const granted: Partial<Record<keyof Calls, unknown>> = {
    table,
    updated,
    audited,
    indexes,
    queue,
    deliveryQueue,
  }
  const calls = recorder.callsOf(name)
  for (const [kind, names] of Object.entries(granted))
    expect(names, kind).toEqual(expect.arrayContaining(calls[kind as keyof Calls]))
})
