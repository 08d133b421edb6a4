# A Faye server on a port of loopback, for the tests: faye.rb PORT TIMEOUT
#
# Standard output has a line of JSON for "ready", for each /meta message that arrives, without credentials, and for each
# connection that ends.
# Standard input takes a command in a line of JSON each, and its end ends the server:
#   {"publish": CHANNEL, "data": DATA}               publishes an event
#   {"answer": CHANNEL, "with": {...}, "times": N}   changes the next N answers on a /meta channel
#   {"refuse": CHANNEL, "error": TEXT, "times": N}   refuses the next N requests on a /meta channel
#   {"close": CHANNEL, "times": N}                   breaks the connection on the next N requests on a /meta channel
#   {"forget": "all"}                                forgets all clients, as after their silence
require "faye"
require "json"
require "thin"

Faye::WebSocket.load_adapter("thin")
$stdout.sync = true

class Rules
  def initialize
    @rules = []
    @broken = []
  end

  def add(rule)
    @rules << { "times" => 1 }.merge(rule)
  end

  # A message on a broken connection is not seen by Faye.
  def incoming(message, request, callback)
    if request
      connection = request.env["em.connection"]
      return if @broken.include?(connection)
      show(message)
      if take("close", message)
        @broken << connection
        return connection.close_connection
      end
      rule = take("refuse", message)
      message["error"] = rule["error"] if rule
      message["error"] ||= "403::Forbidden" if message["channel"] == "/meta/subscribe" && !entitled?(message)
    end
    callback.call(message)
  end

  def outgoing(message, callback)
    rule = take("answer", message)
    message.merge!(rule["with"]) if rule
    callback.call(message)
  end

  private

  def take(name, message)
    rule = @rules.find { |each| each[name] == message["channel"] && each["times"] > 0 }
    rule["times"] -= 1 if rule
    rule
  end

  # ext must name the app and the user of the channel /sdk/apps/APP/appusers/USER, and hold one credential.
  def entitled?(message)
    ext = message["ext"] || {}
    credentials = ext.values_at("jwt", "sessionToken").compact
    message["subscription"] == "/sdk/apps/#{ext["appId"]}/appusers/#{ext["appUserId"]}" && credentials.size == 1
  end

  def show(message)
    ext = message["ext"] && message["ext"].keys.sort
    puts JSON.generate(message.merge("ext" => ext))
  end
end

rules = Rules.new
bayeux = Faye::RackAdapter.new(mount: "/faye", timeout: ARGV[1].to_f)
bayeux.add_extension(rules)
clients = []
bayeux.on(:handshake) { |id| clients << id }
bayeux.on("connection:close") { puts JSON.generate("channel" => "closed") }

EM.run do
  Thin::Logging.silent = true
  Thin::Server.new("127.0.0.1", ARGV[0].to_i, bayeux, signals: false).start
  publisher = bayeux.get_client
  puts JSON.generate("ready" => true)
  Thread.new do
    while (line = $stdin.gets)
      command = JSON.parse(line)
      EM.schedule do
        if command["publish"]
          publisher.publish(command["publish"], command["data"])
        elsif command["forget"]
          server = bayeux.instance_variable_get(:@server)
          clients.each { |id| server.engine.destroy_client(id) }
        else
          rules.add(command)
        end
      end
    end
    EM.schedule { EM.stop }
  end
end
