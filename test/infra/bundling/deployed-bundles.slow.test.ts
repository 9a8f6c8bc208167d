import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleFunctions } from '../../../infra/functions/bundle.ts'
import { synthesize } from '../synthesize.ts'
import { provisionStack } from './deploy-release.ts'
import { describeDeployedFunctions } from './deployed-functions.ts'

describeDeployedFunctions(async () => {
  const bundles = mkdtempSync(join(tmpdir(), 'aes-deployed-'))
  const [stack] = await Promise.all([provisionStack(), bundleFunctions(bundles)])
  const deployment = stack.deploy({ bundles, template: synthesize({ httpPublishing: true }) })
  return {
    ...deployment,
    stop: async () => {
      await deployment.stop()
      rmSync(bundles, { recursive: true })
    },
  }
})
