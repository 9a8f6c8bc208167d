import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { bundleFunctions } from './bundle.ts'
import { isOn } from './context.ts'
import { ServiceStack } from './stack.ts'

const app = new App()
const bundles = join(app.outdir, 'functions')
await bundleFunctions(bundles)
new ServiceStack(app, 'AgentExecutionService', {
  bundles,
  responseStreaming: isOn(app.node, 'responseStreaming'),
  defaultModel: app.node.getContext('defaultModel'),
})
