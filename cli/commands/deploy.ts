import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { ResultFailed } from '../terminal.ts'

/** The CDK app of the package, which `init --cdk` copies. */
export const CDK_APP = fileURLToPath(new URL('../../packages/cdk-app.mjs', import.meta.url))

export function addDeployCommand(program: CliCommand): void {
  program
    .command('deploy')
    .description(
      'Deploy the service to AWS: `cdk deploy` with the app of cdk.json, otherwise of this package.',
    )
    .argument('[options...]', 'options of cdk deploy')
    .allowUnknownOption()
    .helpOption(false)
    .examples('deploy --context executionRetentionDays=30', 'deploy --app cdk.out')
    .run(async (_, args) => {
      const [options = []] = args as unknown as string[][]
      const command = [findCdk(), 'deploy', ...options]
      if (!existsSync('cdk.json') && !options.includes('--app'))
        // The CDK removes quotes around the whole value, so it must not begin with one.
        command.push('--app', `node "${CDK_APP}"`)
      const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
      const cdk = spawn(process.execPath, command, { stdio: 'inherit', env: { ...process.env, PATH } })
      const [code] = (await once(cdk, 'close')) as [number | null]
      if (code !== 0) throw new ResultFailed()
      return { json: null, text: '' }
    })
}

/** @throws UserError that says what to install */
function findCdk(): string {
  try {
    const require = createRequire(resolve('package.json'))
    require.resolve('aws-cdk-lib/package.json')
    return require.resolve('aws-cdk/bin/cdk')
  } catch {
    throw new UserError(
      'The AWS CDK is not installed here: npm install --save-dev aws-cdk aws-cdk-lib constructs',
    )
  }
}
