import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { formatCommand, textTable } from '../format.ts'
import { withTableName } from '../table/open-table.ts'
import { openTableSettings } from '../table/table-settings.ts'

export function addTableCommand(program: CliCommand): void {
  program
    .command('table')
    .description('Check the settings of a deployed table.')
    .command('check')
    .description(
      'Compare keys, indexes and settings of a table with what the service needs, for example of a restored one.',
    )
    .option(
      '--fix',
      'turn on time to live and point-in-time recovery; copy deletion protection and tags of its source',
    )
    .examples('table check --fix --stack Prod-Restored-20261123')
    .run<{ fix?: true }>(async (options) => {
      const { stack, fix } = options
      if (!stack) throw new UserError('Specify the stack or the table with --stack.')
      return withTableName({ ...options, stack }, async (name) => {
        const settings = openTableSettings(name)
        const before = await settings.read()
        const broken = before.filter(({ isOk }) => !isOk)
        if (fix) for (const { fix } of broken) await fix?.()
        const after = fix && broken.length > 0 ? await settings.read() : before
        const fixed = (setting: string) => broken.some((each) => each.setting === setting)
        const rows = after.map(({ setting, state, isOk }) => ({
          setting,
          state,
          result: isOk ? (fixed(setting) ? 'fixed' : 'ok') : 'wrong',
        }))
        const wrong = after.filter(({ isOk }) => !isOk)
        const canFix = wrong.some(({ fix }) => fix)
        return {
          json: { table: name, settings: rows },
          text: textTable(
            ['SETTING', 'RESULT', 'STATE'],
            rows.map(({ setting, result, state }) => [setting, result, state]),
          ),
          ...(canFix && !fix && { note: `Fix it: ${formatCommand(options, 'table check --fix')}` }),
          hasFailed: wrong.length > 0,
        }
      })
    })
}
