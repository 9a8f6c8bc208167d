import { afterAll, inject } from 'vitest'
import { describeAccess } from '../../contract/access.ts'
import {
  type ScriptedProvider,
  startScriptedProvider,
} from '../../support/identity/start-scripted-provider.ts'
import { temporaryServices } from '../../support/service/temporary-services.ts'
import { openJwtColumns } from '../../support/service/token-columns.ts'

const ALWAYS = Array.from({ length: 9 }, () => 200)

const { start, newFolder } = temporaryServices()
let provider: ScriptedProvider

afterAll(() => provider?.stop())

async function startShared(environment: Record<string, string>): Promise<string> {
  const shared = { DYNAMODB_ENDPOINT: inject('dynamodb'), LEASE_SECONDS: '15' }
  return (await start(newFolder(), { ...shared, ...environment })).url
}

describeAccess(
  async (org, other) => {
    provider = await startScriptedProvider()
    return openJwtColumns(org, other, provider, startShared)
  },
  // They are there, with a provider that they can name.
  { 'get-resource-metadata': ALWAYS, 'get-mcp-resource-metadata': ALWAYS },
)
