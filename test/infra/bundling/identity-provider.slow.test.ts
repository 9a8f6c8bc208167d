import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { BUNDLE_OPTIONS } from '../../../infra/functions/bundle.ts'
import { subjectIdOf } from '../../../lib/core/ids.ts'
import { system } from '../../../lib/system.ts'
import { LOCAL_TABLE } from '../../../local/emulators/provision.ts'
import {
  type ScriptedProvider,
  startScriptedProvider,
} from '../../support/identity/start-scripted-provider.ts'
import { type LambdaProcess, startLambda } from '../../support/processes/lambda-process.ts'
import { loadedPackages } from '../../support/processes/loaded-packages.ts'

const SOURCE = fileURLToPath(new URL('../../../functions/authorize-request.ts', import.meta.url))
const organizationId = system.newId()

let provider: ScriptedProvider
let environment: Record<string, string>
const identity = () => ({
  OIDC_ISSUER: provider.issuer,
  OIDC_AUDIENCE: 'agents',
  OIDC_MAPPING: JSON.stringify({ organization: organizationId, scopes: { claim: 'scope' } }),
})

beforeAll(async () => {
  provider = await startScriptedProvider()
  environment = {
    TABLE_NAME: LOCAL_TABLE,
    DYNAMODB_ENDPOINT: inject('dynamodb'),
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
  }
})
afterAll(() => provider?.stop())

describe('the authorizer', () => {
  it('loads jose only with an issuer', () => {
    const load = `await import(${JSON.stringify(SOURCE)})`
    expect(loadedPackages(load, environment)).not.toContain('jose')
    expect(loadedPackages(load, { ...environment, ...identity() })).toContain('jose')
  })
})

describe('the bundle of the authorizer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'aes-authorizer-'))
  let lambda: LambdaProcess

  beforeAll(async () => {
    await build({
      ...BUNDLE_OPTIONS,
      entryPoints: [{ in: SOURCE, out: 'index' }],
      outdir: folder,
      splitting: true,
      chunkNames: 'chunk-[hash]',
    })
    lambda = startLambda(join(folder, 'index.mjs'), { ...environment, ...identity() })
  })
  afterAll(() => {
    lambda?.stop()
    rmSync(folder, { recursive: true })
  })

  const authorize = (token: string) =>
    lambda.invoke({
      type: 'TOKEN',
      authorizationToken: `Bearer ${token}`,
      methodArn: 'arn:api/live/GET/v1/agents',
    })

  it('allows a token of the provider, with what its claims give', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 600
    expect(await authorize(await provider.sign({ exp, scope: 'run', name: 'Zoë' }))).toMatchObject({
      mode: 'buffered',
      payload: {
        principalId: subjectIdOf(provider.issuer, 'ada'),
        policyDocument: { Statement: [{ Effect: 'Allow', Resource: 'arn:api/live/*' }] },
        context: {
          organizationId,
          scopes: 'run',
          subject: 'ada',
          tokenName: 'Zo%C3%AB',
          expiresAt: String(exp),
        },
      },
    })
  })

  it('allows whom the claims give nothing, for the endpoint to say why', async () => {
    const exp = Math.floor(Date.now() / 1_000) + 600
    const { payload } = (await authorize(await provider.sign({ exp }))) as { payload: { context: object } }
    expect(payload).toMatchObject({ policyDocument: { Statement: [{ Effect: 'Allow' }] } })
    expect(payload.context).toEqual({
      tokenId: subjectIdOf(provider.issuer, 'ada'),
      forbidden: encodeURIComponent('The token has no claim "scope", which gives its scope.'),
      lacksScope: 'true',
      expiresAt: String(exp),
    })
  })

  it('fails with "Unauthorized" for a token that is not valid, and otherwise if the provider is down', async () => {
    const failed = { mode: 'failed', message: 'Unauthorized' }
    expect(await authorize(await provider.sign({ aud: 'other' }))).toEqual(failed)
    expect(await authorize(`${await provider.sign()}x`)).toEqual(failed)
    expect(await authorize('aes_unknown')).toEqual(failed)
    await provider.stop()
    const other = startLambda(join(folder, 'index.mjs'), { ...environment, ...identity() })
    const event = {
      type: 'TOKEN',
      authorizationToken: `Bearer ${await provider.sign()}`,
      methodArn: 'arn:a/b',
    }
    const result = await other.invoke(event)
    other.stop()
    expect(result).toMatchObject({ mode: 'failed' })
    expect(result).not.toEqual(failed)
  })
})
