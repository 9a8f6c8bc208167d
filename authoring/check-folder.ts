import { type FolderProblem, findCodeFile, type LoadedAgent } from '../lib/agents/load-folder.ts'
import { loadAgent } from '../local/load-agent.ts'
import { readCases, type TestCase } from './cases/case-file.ts'
import { isUnchecked, typeCheck, updateCallerTypes } from './type-check.ts'

/** `warnings`: what the environment lacks for a run. */
export type CheckResult = { warnings: FolderProblem[] } & (
  | { agent: LoadedAgent; cases: TestCase[]; problems: [] }
  | { agent: null; cases: []; problems: FolderProblem[] }
)

/**
 * Reads, checks, bundles and loads the agent in a folder with its test cases.
 * @param options.types whether to check the types of the code
 */
export async function checkFolder(folder: string, { types }: { types: boolean }): Promise<CheckResult> {
  const [loaded, caseFile] = await Promise.all([loadAgent(folder, process.env), readCases(folder)])
  const { agent } = loaded
  const codeFile = findCodeFile(folder)
  const typeProblems = agent && types ? await checkTypes(folder, agent, codeFile) : []
  const warnings = [...loaded.warnings, ...typeProblems.filter(isUnchecked)]
  const wrong = typeProblems.filter((problem) => !isUnchecked(problem))
  const problems = [...loaded.problems, ...wrong, ...caseFile.problems]
  return agent && problems.length === 0
    ? { agent, cases: caseFile.cases, problems: [], warnings }
    : { agent: null, cases: [], problems, warnings }
}

const checkTypes = (folder: string, { document }: LoadedAgent, codeFile: string | undefined) =>
  codeFile ? typeCheck({ codeFile, document }) : updateCallerTypes(folder, document)
