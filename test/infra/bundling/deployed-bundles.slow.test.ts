import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { getAuditPrefix, getUpdatedPrefixes } from '../../../infra/functions/apply-grant.ts'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import { FUNCTION_NAMES } from '../../../infra/functions/function-settings.ts'
import { GRANTS } from '../../../infra/functions/grants.ts'
import { type Calls, startCallRecorder } from '../functions/call-recorder.ts'
import { synthesize } from '../synthesize.ts'
import { provisionStack } from './deploy-release.ts'
import { describeDeployedFunctions } from './deployed-functions.ts'

let recorder: Awaited<ReturnType<typeof startCallRecorder>>

describeDeployedFunctions(async () => {
  const bundles = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
  const [stack] = await Promise.all([provisionStack(), bundleFunctions(bundles)])
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
      rmSync(bundles, { recursive: true })
    },
  }
})

// In the night, `grants.test.ts` takes every path, and finds grants that no call needs, too.
it.each(FUNCTION_NAMES)('%s made no call without a grant', (name) => {
  const { table, indexes = [], queue = [], deliveryQueue = [] } = GRANTS[name]
  const [updated, audited] = [getUpdatedPrefixes(name), [getAuditPrefix(name) ?? []].flat()]
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
