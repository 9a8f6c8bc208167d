import type { Command } from 'commander'
import { checkFolder } from '../../../authoring/check-folder.ts'
import { dataFolder } from '../../../local/emulators/open-database.ts'
import { applyModelSettings } from '../../../local/model-settings.ts'
import { folderError, formatWarnings } from '../../authoring/folder-problems.ts'
import { formatExamples } from '../../format.ts'
import { toAction, withProgress } from '../../output.ts'

type Options = { types: boolean }

export function addCheckCommand(program: Command): void {
  program
    .command('check')
    .description('Check an agent like publish, with the types of its code and its test cases.')
    .argument('<folder>', 'folder that contains agent.md')
    .option('--no-types', 'do not check the types of the code')
    .addHelpText('after', formatExamples('check agents/redact-pii'))
    .action(
      toAction<Options>(async ({ types }, [folder = '']) => {
        await applyModelSettings(dataFolder(), process.env)
        const checking = checkFolder(folder, { types })
        const { agent, cases, problems, warnings } = await withProgress(`Checking ${folder}`, checking)
        if (!agent) throw folderError('Check', problems)
        const { slug } = agent.document
        const text = `${slug} is valid${cases.length > 0 ? `, with ${formatCount(cases.length)}` : ''}.`
        const note = formatWarnings(warnings).join('\n')
        return { json: { slug, cases: cases.map(({ name }) => name), problems: [], warnings }, text, note }
      }),
    )
}

const formatCount = (cases: number) => (cases === 1 ? '1 test case' : `${cases} test cases`)
