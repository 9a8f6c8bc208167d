import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { MAX_OPEN_EXECUTIONS } from '../lib/core/limits.ts'
import { bundleFunctions } from './bundle.ts'
import { isOn, wholeNumber } from './context.ts'
import { ServiceStack } from './stack.ts'

const app = new App()
const bundles = join(app.outdir, 'functions')
await bundleFunctions(bundles)
new ServiceStack(app, 'AgentExecutionService', {
  bundles,
  responseStreaming: isOn(app.node, 'responseStreaming'),
  defaultModel: app.node.getContext('defaultModel'),
  maxOpenExecutions: wholeNumber(app.node, 'maxOpenExecutions', MAX_OPEN_EXECUTIONS),
})
