import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_OPTIONS } from '../infra/all-options.ts'
import { synthesize } from '../infra/synthesize.ts'
import { runCommand } from '../support/processes/run-command.ts'

/** In the partitions aws, aws-us-gov and aws-cn. */
const REGIONS = ['us-east-1', 'eu-west-1', 'ap-southeast-2', 'us-gov-west-1', 'cn-north-1']

/** The CDK adds dependencies that CloudFormation would infer. */
const IGNORED = ['W3005']

/** Checks the template with cfn-lint: the default one, and one with every option. */
export async function lintTemplate(command: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aes-cfn-lint-'))
  try {
    for (const [name, context] of Object.entries({ default: {}, 'all-options': ALL_OPTIONS }))
      writeFileSync(join(folder, `${name}.json`), JSON.stringify(synthesize(context).toJSON()))
    const templates = ['default', 'all-options'].map((name) => join(folder, `${name}.json`))
    const options = ['--regions', ...REGIONS, '--ignore-checks', ...IGNORED]
    await runCommand(command, [...options, '--template', ...templates])
    console.log(`cfn-lint: no findings for ${REGIONS.join(', ')}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
