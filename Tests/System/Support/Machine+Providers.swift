/// Token providers in three languages, which get their tokens from `sdk-sandbox mint`.
extension Machine {
  static let languages = ["shell", "python", "node"]

  /// Installs the providers in `/usr/local/libexec`, each as `LANGUAGE-token`.
  func installProviders() async throws {
    try await sh(
      #"""
      mkdir -p /usr/local/libexec; cd /usr/local/libexec
      cat > shell-token <<'END'
      #!/bin/sh
      exec /usr/bin/sdk-sandbox mint --external-id "$SDKD_EXTERNAL_ID"
      END
      cat > python-token <<'END'
      #!/usr/bin/python3
      import os
      with os.popen("/usr/bin/sdk-sandbox mint --external-id " + os.environ["SDKD_EXTERNAL_ID"]) as mint:
          token = mint.read().strip()
      print('{"token": "%s"}' % token)
      END
      cat > node-token <<'END'
      #!/usr/bin/node
      const question = JSON.parse(require('fs').readFileSync(0, 'utf8'));
      const mint = ['mint', '--external-id', question.user.externalId];
      const token = require('child_process').execFileSync('/usr/bin/sdk-sandbox', mint, { encoding: 'utf8' });
      process.stdout.write(JSON.stringify({ token: token.trim() }));
      END
      chmod 755 *-token
      """#)
  }

  /// Writes the two unit files of a provider, as an administrator would, and enables its socket.
  ///
  /// - Parameter lines: lines for the `[Socket]` section, in a drop-in that is read after the package's.
  func enableProvider(_ name: String, program: String, socket: String? = nil, _ lines: String = "") async throws {
    try await sh(
      """
      cat > /etc/systemd/system/sdkd-provider-\(name).socket <<'END'
      [Socket]
      ListenStream=\(socket ?? "/run/sdkd-providers/\(name).sock")
      [Install]
      WantedBy=sockets.target
      END
      cat > /etc/systemd/system/sdkd-provider-\(name)@.service <<'END'
      [Service]
      ExecStart=/usr/libexec/sdkd-provider \(program)
      END
      mkdir -p /etc/systemd/system/sdkd-provider-\(name).socket.d
      printf '[Socket]\\n\(lines)\\n' > /etc/systemd/system/sdkd-provider-\(name).socket.d/local.conf
      systemctl daemon-reload
      systemctl enable --now sdkd-provider-\(name).socket
      """)
  }
}
